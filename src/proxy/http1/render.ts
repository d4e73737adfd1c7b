// The heads that Sluice sends: what a hop must not pass on is left out first, what Sluice says itself comes after, so
// that a client can neither forge nor remove it (contract.md §7.1, architecture.md §6.9). Lines that stay are copied
// as they came, whole runs at a time.
import type { ClientAddress } from '../match/client-address.ts';
import { fieldId } from './field-name.ts';
import type { Framing } from './framing.ts';
import type { Head } from './head.ts';
import type { ResponseParser } from './response-parser.ts';

/** Who sent a request, as far as its connection can tell. */
export interface Sender extends ClientAddress {
  readonly scheme: 'http' | 'https';
}

export interface RequestLine {
  readonly method: string;
  /** Path and query as the upstream is to see them. */
  readonly target: string;
  /** Value of `Host` towards the upstream. */
  readonly host: string;
  /** Host as the client named it; empty when it named none. */
  readonly authority: string;
  /** Which try the upstream is to be told of, from 1; 0 = it is told nothing and the client's own line stays. */
  readonly attempt: number;
}

/** Head of the request towards the upstream; its body is framed as the client framed it. */
export function renderRequest(line: RequestLine, head: Head, framing: Framing, sender: Sender): string {
  const start = `${line.method} ${line.target} HTTP/1.1\r\nHost: ${line.host}\r\n`;
  const named = line.attempt > 0 ? [...framing.named, attemptName] : framing.named;
  let text = start + keptLines(head, named, sender.peerTrusted ? keptFromTrusted : keptFromClient);
  if (framing.kind === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
  if (framing.expectContinue) text += 'Expect: 100-continue\r\n';
  if (framing.upgrade !== '') text += `Connection: upgrade\r\nUpgrade: ${framing.upgrade}\r\n`;
  if (head.find(fieldId.te) >= 0 && acceptsTrailers(head)) text += 'TE: trailers\r\n';
  if (line.attempt > 0) text += `X-Gateway-Attempt-Count: ${line.attempt}\r\n`;
  return `${text}${forwardedLines(line, head, framing.named, sender)}\r\n`;
}

const attemptName = 'x-gateway-attempt-count';

export interface ResponseSettings {
  /** Replaces whatever the upstream calls itself. */
  readonly serverName: string | undefined;
  /** Ready lines for framing and connection, decided by the connection. */
  readonly connectionLines: string;
}

/** Head of the upstream's response towards the client. */
export function renderResponse(parser: ResponseParser, framing: Framing, settings: ResponseSettings): string {
  const { status, reason, head } = parser;
  const kept = settings.serverName === undefined ? keptFromUpstream : keptUnderOwnName;
  const text = status === 200 && reason === 'OK' ? 'HTTP/1.1 200 OK\r\n' : `HTTP/1.1 ${status} ${reason}\r\n`;
  const server = settings.serverName === undefined ? '' : `Server: ${settings.serverName}\r\n`;
  const lines = keptLines(head, framing.named, status === 204 || status < 200 ? keptWithoutBody(kept) : kept);
  return `${text}${server}${lines}${settings.connectionLines}\r\n`;
}

/** Trailers that may travel on, as lines. */
export const renderTrailers = (head: Head | undefined, named: readonly string[]): string =>
  head === undefined ? '' : keptLines(head, named, keptFromClient);

/** By field id: 1 = the line stays. */
type KeptTable = Uint8Array;

const tableWithout = (...ids: readonly number[]): KeptTable =>
  Uint8Array.from({ length: 16 }, (_, id) => (ids.includes(id) ? 0 : 1));

const { transferEncoding, connection, upgrade, te, hopByHop } = fieldId;
const ownToHop = [transferEncoding, connection, upgrade, te, hopByHop];
const { forwardedFor, forwardedProto, forwardedHost, clientCertificate, forwarded } = fieldId;
const keptFromTrusted = tableWithout(
  ...ownToHop,
  fieldId.host,
  fieldId.expect,
  fieldId.alias,
  forwardedFor,
  clientCertificate,
);
const keptFromClient = tableWithout(
  ...[...ownToHop, fieldId.host, fieldId.expect, fieldId.alias],
  ...[forwardedFor, forwardedProto, forwardedHost, clientCertificate, forwarded],
);
const keptFromUpstream = tableWithout(...ownToHop);
const keptUnderOwnName = tableWithout(...ownToHop, fieldId.server);
const bodiless = tableWithout(...ownToHop, fieldId.contentLength);
const bodilessUnderOwnName = tableWithout(...ownToHop, fieldId.contentLength, fieldId.server);

const keptWithoutBody = (kept: KeptTable): KeptTable => (kept === keptFromUpstream ? bodiless : bodilessUnderOwnName);

/** `named` by Connection are removed too, but never the framing. */
function keptLines(head: Head, named: readonly string[], kept: KeptTable): string {
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

function forwardedLines(line: RequestLine, head: Head, named: readonly string[], sender: Sender): string {
  const { peerIp, peerTrusted, scheme } = sender;
  const stays = (id: number, name: string): boolean => peerTrusted && head.find(id) >= 0 && !named.includes(name);
  let chain = '';
  if (stays(forwardedFor, 'x-forwarded-for')) for (const value of valuesOf(head, forwardedFor)) chain += `${value}, `;
  let lines = `X-Forwarded-For: ${chain}${peerIp}\r\n`;
  if (!stays(forwardedProto, 'x-forwarded-proto')) lines += `X-Forwarded-Proto: ${scheme}\r\n`;
  const hostStays = line.authority === '' || stays(forwardedHost, 'x-forwarded-host');
  return hostStays ? lines : `${lines}X-Forwarded-Host: ${line.authority}\r\n`;
}

/** Non-empty values of all lines with this id, in order. */
export function valuesOf(head: Head, id: number): string[] {
  const values: string[] = [];
  for (let i = 0; i < head.count; i++) if (head.id(i) === id && head.value(i) !== '') values.push(head.value(i));
  return values;
}

const acceptsTrailers = (head: Head): boolean =>
  valuesOf(head, te).some((value) => /(^|,)[ \t]*trailers[ \t]*(,|;|$)/i.test(value));
