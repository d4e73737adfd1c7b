// Head serializer: hop-by-hop fields are left out first, Sluice's own fields come last, so that a client can neither
// forge nor remove them (contract.md §7.1, architecture.md §6.9). Kept lines are copied as they arrived, whole runs
// at a time.

import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../util/clock.ts';
import type { FieldEdits } from '../fields/field-edits.ts';
import { type FieldLines, valuesOf } from '../fields/field-lines.ts';
import { fieldId, fieldIds, identifyName } from '../fields/field-name.ts';
import { dateLine, lacksDate } from '../fields/response-date.ts';
import type { DownstreamAddress, ExchangeRequest } from '../message/request.ts';
import type { EditedHead, ExchangeResponse } from '../message/response.ts';
import type { UpstreamRequest } from '../message/upstream-stream.ts';
import { Head } from './head.ts';

/** Reason phrase of a response that Sluice makes (RFC 9110 §15). */
const reasonOf = (status: number): string => STATUS_CODES[status] ?? 'Response';

/** Returns the head of the request to the upstream. */
export function renderRequest(order: UpstreamRequest): string {
  const { request } = order;
  const { lines } = request;
  const sender = request.sender();
  if (!(lines instanceof Head) || !followsFromHead(order)) return requestText(order, sender);
  const { target, host } = order;
  const former = lines.serialized;
  if (former?.sender === sender && former.target === target && former.host === host) return former.text;
  const text = requestText(order, sender);
  lines.cacheSerialized({ text, target, host, sender });
  return text;
}

/** Returns whether the result depends only on the received head, target, host and sender. */
function followsFromHead({ request, bodyKind, expectContinue, attempt, grpcTimeout, trace }: UpstreamRequest): boolean {
  const isPlain = request.edits.empty && request.upgrade === '' && bodyKind !== 'stream' && !expectContinue;
  return isPlain && attempt === 0 && grpcTimeout === '' && trace === undefined;
}

function requestText(order: UpstreamRequest, sender: DownstreamAddress): string {
  const { request, attempt, grpcTimeout, trace } = order;
  const { lines, edits, upgrade } = request;
  const kept = sender.peerTrusted ? keptFromTrusted : keptFromClient;
  let text = `${request.method} ${order.target} HTTP/1.1\r\nHost: ${order.host}\r\n`;
  text += keptText(lines, edits, replacedNames(order), kept);
  if (order.bodyKind === 'stream') text += 'Transfer-Encoding: chunked\r\n';
  else if (order.bodyKind === 'none' && upgrade === '' && hasContent.has(request.method)) text += emptyLength;
  if (order.expectContinue) text += 'Expect: 100-continue\r\n';
  if (upgrade !== '') text += upgradeText(request);
  if (acceptsTrailers(lines)) text += 'TE: trailers\r\n';
  if (attempt > 0) text += `X-Gateway-Attempt-Count: ${attempt}\r\n`;
  if (grpcTimeout !== '') text += `grpc-timeout: ${grpcTimeout}\r\n`;
  if (trace !== undefined) text += trace.line;
  return `${text}${forwardedText(request, sender)}\r\n`;
}

/**
 * Methods that give content a meaning: a request without any says so (RFC 9110 §8.6). HTTP/2 has END_STREAM for it, and
 * servers of HTTP/1.1 answer 411 to a POST without a length.
 */
const hasContent: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
const emptyLength = 'Content-Length: 0\r\n';

function upgradeText(request: ExchangeRequest): string {
  const text = `Connection: upgrade\r\nUpgrade: ${request.upgrade}\r\n`;
  if (request.protocol !== 'HTTP/2.0' || request.header('sec-websocket-key') !== undefined) return text;
  // HTTP/1.1 requires a key (RFC 6455 §4.1); in HTTP/2 the stream takes its place.
  return `${text}Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n`;
}

/**
 * Returns the names whose lines are not passed on in this request: those that Connection names, and those that Sluice
 * writes.
 */
export function replacedNames({ request, attempt, grpcTimeout, trace }: UpstreamRequest): readonly string[] {
  const ofTrace = trace?.replaced ?? noNames;
  if (attempt === 0 && grpcTimeout === '' && ofTrace.length === 0) return request.named;
  return [
    ...request.named,
    ...(attempt > 0 ? ['x-gateway-attempt-count'] : []),
    ...(grpcTimeout !== '' ? ['grpc-timeout'] : []),
    ...ofTrace,
  ];
}

/** Fields of Sluice's own in a response. */
export interface OwnFields {
  /** Value of Server, in place of the upstream's. */
  readonly serverName: string | undefined;
  /** Clock of the Date of a final response without one. */
  readonly clock: Clock;
}

export interface ResponseSettings extends OwnFields {
  /** Complete lines for framing and connection, made by the connection. */
  readonly connectionLines: string;
}

/** Returns the head of an upstream's response to the client, interim ones included. */
export function renderResponse(head: EditedHead, settings: ResponseSettings): string {
  const { status, reason, lines } = head;
  const { serverName, clock } = settings;
  const kept = serverName === undefined ? keptFromUpstream : keptUnderOwnName;
  const text =
    status === 200 && reason === 'OK' ? 'HTTP/1.1 200 OK\r\n' : `HTTP/1.1 ${status} ${reason || reasonOf(status)}\r\n`;
  const server = serverName === undefined ? '' : `Server: ${serverName}\r\n`;
  const date = status >= 200 && lacksDate(head) ? dateLine(clock) : '';
  const table = status === 204 || status < 200 ? keptWithoutBody(kept) : kept;
  return `${text}${server}${keptText(lines, head.edits, head.named, table)}${date}${settings.connectionLines}\r\n`;
}

/** Returns the head of a response that Sluice makes; its length is in `connectionLines`. */
export function renderAnswer(response: ExchangeResponse, settings: ResponseSettings): string {
  const { status, lines, edits } = response;
  const { serverName, clock } = settings;
  const server = serverName === undefined ? '' : `Server: ${serverName}\r\n`;
  const date = lacksDate(response) ? dateLine(clock) : '';
  const kept = serverName === undefined ? bodiless : bodilessUnderOwnName;
  const text = `HTTP/1.1 ${status} ${reasonOf(status)}\r\n${server}`;
  return `${text}${keptText(lines, edits, response.named, kept)}${date}${settings.connectionLines}\r\n`;
}

/** Returns the trailers that may be passed on, as lines. */
export const renderTrailers = (head: Head | undefined, named: readonly string[]): string =>
  head === undefined ? '' : keptText(head, undefined, named, keptFromClient);

/** The same for lines that another version of HTTP brought. */
export const renderLines = (lines: FieldLines): string => keptText(lines, undefined, noNames, keptFromClient);

const noNames: readonly string[] = [];

/** Table by field id: 1 = the line is kept. */
export type KeptTable = Uint8Array;

const tableWithout = (...ids: readonly number[]): KeptTable =>
  Uint8Array.from({ length: fieldIds }, (_, id) => (ids.includes(id) ? 0 : 1));

const { transferEncoding, connection, upgrade, te, hopByHop } = fieldId;
const ownToHop = [transferEncoding, connection, upgrade, te, hopByHop];
const { forwardedFor, forwardedProto, forwardedHost, clientCertificate, forwarded } = fieldId;
export const keptFromTrusted = tableWithout(
  ...ownToHop,
  fieldId.host,
  fieldId.expect,
  fieldId.alias,
  forwardedFor,
  clientCertificate,
);
export const keptFromClient = tableWithout(
  ...[...ownToHop, fieldId.host, fieldId.expect, fieldId.alias],
  ...[forwardedFor, forwardedProto, forwardedHost, clientCertificate, forwarded],
);
/** Returns the table for a request that becomes a stream without an end, for which a length would be wrong. */
export const keptOfTunnel = (kept: KeptTable): KeptTable =>
  kept === keptFromTrusted ? keptOfTrustedTunnel : keptOfClientTunnel;
const withoutLength = (kept: KeptTable): KeptTable =>
  kept.map((stays, id) => (id === fieldId.contentLength ? 0 : stays));
const keptOfTrustedTunnel = withoutLength(keptFromTrusted);
const keptOfClientTunnel = withoutLength(keptFromClient);
export const keptFromUpstream = tableWithout(...ownToHop);
export const keptUnderOwnName = tableWithout(...ownToHop, fieldId.server);
export const bodiless = tableWithout(...ownToHop, fieldId.contentLength);
export const bodilessUnderOwnName = tableWithout(...ownToHop, fieldId.contentLength, fieldId.server);

export const keptWithoutBody = (kept: KeptTable): KeptTable =>
  kept === keptFromUpstream ? bodiless : bodilessUnderOwnName;

/**
 * Returns the kept lines of a head without extra blanks. Lines `named` by Connection are removed too, but never the
 * framing.
 */
function keptLines(head: Head, named: readonly string[], kept: KeptTable): string {
  if (named.length > 0) return linesLeft(head, named, kept);
  const known = head.keptBy(kept);
  if (known !== undefined) return known;
  const text = linesLeft(head, named, kept);
  head.cacheKept(kept, text);
  return text;
}

function linesLeft(head: Head, named: readonly string[], kept: KeptTable): string {
  let text = '';
  let runStart = -1;
  for (let i = 0; i < head.count; i++) {
    const id = head.id(i);
    if (kept[id] === 1 && (named.length === 0 || id === fieldId.contentLength || !isNamed(head, i, named))) {
      if (runStart < 0) runStart = head.lineStart(i);
    } else if (runStart >= 0) {
      text += head.slice(runStart, head.lineStart(i));
      runStart = -1;
    }
  }
  return runStart < 0 ? text : text + head.slice(runStart, head.text.length - 2);
}

const isNamed = (head: Head, line: number, named: readonly string[]): boolean =>
  named.includes(head.name(line).toLowerCase());

/** Returns the kept lines, after the edits, as text. Untouched lines of a head are copied whole runs at a time. */
function keptText(lines: FieldLines, edits: FieldEdits | undefined, named: readonly string[], kept: KeptTable): string {
  if (lines instanceof Head && !lines.padded && (edits === undefined || edits.empty))
    return keptLines(lines, named, kept);
  let text = '';
  for (let i = 0; i < lines.count; i++) {
    const id = lines.id(i);
    if (kept[id] !== 1) continue;
    const name = lines.name(i);
    const lower = name.toLowerCase();
    if (edits?.removes(lower) || (named.includes(lower) && id !== fieldId.contentLength)) continue;
    text += `${name}: ${lines.value(i)}\r\n`;
  }
  if (edits === undefined) return text;
  for (let i = 0; i < edits.addedCount; i++) {
    const id = identifyName(edits.addedLowerName(i));
    if (id === fieldId.host || (id === fieldId.server && kept[id] === 0)) continue;
    if ((id === fieldId.contentLength || id === fieldId.clientCertificate) && kept[id] === 0) continue;
    text += `${edits.addedName(i)}: ${edits.addedValue(i)}\r\n`;
  }
  return text;
}

/** Returns the lines that tell the upstream about the client; a field that a middleware set stays as set. */
export function forwardedText(request: ExchangeRequest, sender: DownstreamAddress): string {
  // Received forwarding fields count only from a trusted peer or a middleware.
  if (sender.peerTrusted || !request.edits.empty) return forwardedLines(request, sender);
  if (sender.forwarding?.authority !== request.authority)
    sender.forwarding = { authority: request.authority, lines: forwardedLines(request, sender) };
  return sender.forwarding.lines;
}

function forwardedLines({ lines, edits, named, authority }: ExchangeRequest, sender: DownstreamAddress): string {
  const { peerIp, peerTrusted, scheme, certificateUris } = sender;
  const first = (name: string): string | undefined => (edits.empty ? lines.first(name) : edits.first(lines, name));
  const stays = (name: string): boolean => peerTrusted && first(name) !== undefined && !named.includes(name);
  const own = (name: string): boolean => !edits.empty && edits.added(name) !== undefined;
  let text = '';
  if (!own('x-forwarded-for')) {
    let chain = '';
    if (stays('x-forwarded-for')) for (const value of forwardedValues(lines)) chain += `${value}, `;
    text += `X-Forwarded-For: ${chain}${peerIp}\r\n`;
  }
  if (!stays('x-forwarded-proto') && !own('x-forwarded-proto')) text += `X-Forwarded-Proto: ${scheme}\r\n`;
  const hostStays = authority === '' || stays('x-forwarded-host') || own('x-forwarded-host');
  if (!hostStays) text += `X-Forwarded-Host: ${authority}\r\n`;
  return certificateUris === '' ? text : `${text}X-Forwarded-Client-Cert: ${certificateUris}\r\n`;
}

const forwardedValues = (lines: FieldLines): string[] => valuesOf(lines, forwardedFor);

export const acceptsTrailers = (lines: FieldLines): boolean => {
  const value = lines.first('te');
  return value !== undefined && valuesOf(lines, te).some((each) => /(^|,)[ \t]*trailers[ \t]*(,|;|$)/i.test(each));
};
