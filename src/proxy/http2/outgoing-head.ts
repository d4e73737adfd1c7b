// Outgoing heads in HTTP/2: hop-by-hop fields are left out, Sluice's own fields come last, by the same tables as in
// HTTP/1.1 (http1/serialize-head.ts).

import type { FieldEdits } from '../fields/field-edits.ts';
import type { FieldLines } from '../fields/field-lines.ts';
import { fieldId, identifyName } from '../fields/field-name.ts';
import { dateValue, lacksDate } from '../fields/response-date.ts';
import {
  acceptsTrailers,
  bodiless,
  bodilessUnderOwnName,
  forwardedText,
  type KeptTable,
  keptFromClient,
  keptFromTrusted,
  keptFromUpstream,
  keptOfTunnel,
  keptUnderOwnName,
  keptWithoutBody,
  type OwnFields,
  replacedNames,
} from '../http1/serialize-head.ts';
import { isGrpc } from '../message/grpc.ts';
import type { EditedHead, ExchangeResponse } from '../message/response.ts';
import type { UpstreamRequest } from '../message/upstream-stream.ts';
import type { HpackEncoder } from './hpack/encoder.ts';

/** Encodes the head of an upstream's response, interim ones included. */
export function encodeResponse(out: HpackEncoder, head: EditedHead, own: OwnFields): void {
  encodeHead(out, head, head.status, head.named, own);
}

/** Encodes acceptance of an extended CONNECT: a 200, without the proof that HTTP/1.1 asks for (RFC 8441 §5). */
export function encodeAcceptance(out: HpackEncoder, head: EditedHead, own: OwnFields): void {
  encodeHead(out, head, 200, [...head.named, 'sec-websocket-accept'], own);
}

function encodeHead(
  out: HpackEncoder,
  head: EditedHead,
  status: number,
  named: readonly string[],
  { serverName, clock }: OwnFields,
): void {
  out.begin();
  out.status(status);
  if (serverName !== undefined) out.field('server', serverName);
  const kept = serverName === undefined ? keptFromUpstream : keptUnderOwnName;
  const table = status === 204 || status < 200 ? keptWithoutBody(kept) : kept;
  encodeKept(out, head.lines, head.edits, named, table);
  if (status >= 200 && lacksDate(head)) out.field('date', dateValue(clock));
}

/**
 * Encodes the head of a response that Sluice makes. `length`: bytes of its body; −1 = no body and no Content-Length.
 */
export function encodeAnswer(
  out: HpackEncoder,
  response: ExchangeResponse,
  { serverName, clock }: OwnFields,
  length: number,
): void {
  out.begin();
  out.status(response.status);
  if (serverName !== undefined) out.field('server', serverName);
  const kept = serverName === undefined ? bodiless : bodilessUnderOwnName;
  encodeKept(out, response.lines, response.edits, response.named, kept);
  if (lacksDate(response)) out.field('date', dateValue(clock));
  if (length >= 0) out.field('content-length', String(length));
}

/** Encodes the head of a request to an upstream; an upgrade becomes extended CONNECT. */
export function encodeRequest(out: HpackEncoder, order: UpstreamRequest, scheme: 'http' | 'https'): void {
  const { request, attempt, grpcTimeout, trace } = order;
  const { lines, edits } = request;
  const sender = request.sender();
  out.begin();
  const connects = request.upgrade !== '';
  out.request(connects ? 'CONNECT' : request.method, scheme, order.host, order.target);
  if (connects) out.field(':protocol', request.upgrade.toLowerCase());
  const replaced = replacedNames(order);
  // Extended CONNECT replaces the key by which HTTP/1.1 proves a WebSocket handshake (RFC 8441 §5).
  const named = connects ? [...replaced, 'sec-websocket-key'] : replaced;
  const kept = sender.peerTrusted ? keptFromTrusted : keptFromClient;
  encodeKept(out, lines, edits, named, connects ? keptOfTunnel(kept) : kept);
  if (order.expectContinue) out.field('expect', '100-continue');
  // A call that a middleware made gRPC takes trailers, although its client did not say so.
  if (acceptsTrailers(lines) || (!edits.empty && isGrpc(request))) out.field('te', 'trailers');
  if (attempt > 0) out.field('x-gateway-attempt-count', String(attempt));
  if (grpcTimeout !== '') out.field('grpc-timeout', grpcTimeout);
  if (trace !== undefined) out.field('traceparent', trace.traceparent);
  encodeLines(out, forwardedText(request, sender));
}

/** Encodes whole field lines, given as text. */
export function encodeLines(out: HpackEncoder, text: string): void {
  for (let at = 0; at < text.length; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r\n', at);
    if (colon < 0 || end < colon) return;
    const name = text.slice(at, colon);
    if (identifyName(name) !== fieldId.host) out.field(name, withoutBlanks(text.slice(colon + 1, end)));
    at = end + 2;
  }
}

function encodeKept(
  out: HpackEncoder,
  lines: FieldLines,
  edits: FieldEdits | undefined,
  named: readonly string[],
  kept: KeptTable,
): void {
  const edited = edits !== undefined && !edits.empty;
  for (let i = 0; i < lines.count; i++) {
    const id = lines.id(i);
    if (kept[id] !== 1) continue;
    const name = lines.name(i);
    if (edited || named.length > 0) {
      const lower = name.toLowerCase();
      if (edited && edits.removes(lower)) continue;
      if (id !== fieldId.contentLength && named.includes(lower)) continue;
    }
    out.field(name, lines.value(i));
  }
  if (!edited) return;
  for (let i = 0; i < edits.addedCount; i++) {
    const id = identifyName(edits.addedLowerName(i));
    if (id === fieldId.host || (id === fieldId.server && kept[id] === 0)) continue;
    if ((id === fieldId.contentLength || id === fieldId.clientCertificate) && kept[id] === 0) continue;
    out.field(edits.addedName(i), withoutBlanks(edits.addedValue(i)));
  }
}

/**
 * Returns the value without blanks around it, which HTTP/2 forbids (RFC 9113 §8.2.1); bytes that only look like
 * blanks are kept.
 */
function withoutBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return start === 0 && end === value.length ? value : value.slice(start, end);
}

const isBlank = (code: number): boolean => code === 32 || code === 9;
