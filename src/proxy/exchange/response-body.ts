// Response body on its way to the client, as middlewares read it, replace it and wrap it (proxy.md, Bodies).
import type { BodySource } from '../message/body.ts';
import type { ExchangeResponse } from '../message/response.ts';
import {
  type CollectedBody,
  collected,
  emptyBuffer,
  HeldBody,
  type HeldCount,
  readBody,
  WholeBody,
} from './held-body.ts';

export function collectBody(
  response: ExchangeResponse,
  bytesMax: number,
  count?: HeldCount,
): CollectedBody | undefined | Promise<CollectedBody | undefined> {
  if (response.own !== undefined) return readBody(Buffer.from(response.own));
  if (response.bodyKind === 'none' || response.source === undefined) return readBody(emptyBuffer);
  response.keepLines();
  const held = response.source instanceof HeldBody ? response.source : new HeldBody(response.source);
  response.source = held;
  return collected(held, bytesMax, count);
}

/** Returns whether a part of it has not arrived from the upstream yet. */
export function isUnderWay({ source }: ExchangeResponse): boolean {
  return source !== undefined && !(source instanceof HeldBody && source.whole);
}

export function replaceBody(response: ExchangeResponse, bytes: Uint8Array): void {
  response.source = undefined;
  response.own = bytes;
  response.bodyKind = 'length';
  response.bodyLength = bytes.length;
  response.edits.setLength(bytes.length);
}

/** Wraps the body of a response that has one on the wire. */
export function wrapBody(
  response: ExchangeResponse,
  wrap: (source: BodySource) => BodySource,
  sameLength: boolean,
): void {
  if (response.own !== undefined) response.edits.setLength(response.own.length);
  response.keepLines();
  const source = response.source ?? new WholeBody(response.own ?? emptyBuffer);
  response.source = wrap(source);
  response.own = undefined;
  if (sameLength) return;
  response.bodyKind = 'stream';
  response.edits.dropLength();
}

/** Leaves the length out of the head of a response to HEAD, whose body would have an unknown one. */
export function withoutLength(response: ExchangeResponse): void {
  response.keepLines();
  response.edits.dropLength();
  if (response.own === undefined) return;
  response.own = undefined;
  response.bodyKind = 'none';
  response.source = new WholeBody(emptyBuffer);
}
