// The request headers that make a write conditional or repeatable (architecture.md §6.5, §8).
import { createHash } from 'node:crypto';
import { SluiceError } from '../errors.ts';
import type { Idempotency, IfMatch } from '../state/command.ts';
import { drain } from '../util/time-slice.ts';
import type { ApiRequest } from './resource-answer.ts';

/** List of entity tags; empty elements are ignored (RFC 9110 §5.6.1). */
const entityTags = /^[\s,]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*(?:,[\s,]*|$))+$/;
const oneTag = /(W\/)?"([^"]*)"/g;
/** Revision as `ETag` writes it, in its one form. */
const revision = /^(?:0|[1-9]\d{0,14})$/;
const visible = /^[\x21-\x7e]{1,128}$/;

/** `If-Match` of the request, absent when it has none. Throws INVALID when it is not a list of entity tags. */
export function ifMatchOf(request: ApiRequest): { ifMatch?: IfMatch } {
  const text = single(request, 'if-match');
  if (text === undefined) return {};
  const ifMatch = parseIfMatch(text);
  if (ifMatch === undefined) throw new SluiceError('INVALID', 'If-Match must be * or a list of quoted revisions');
  return { ifMatch };
}

/**
 * Parses a list of entity tags. Tags that are no revision of ours, weak ones included, match nothing (RFC 9110 §13.1.1). Undefined for a text that is
 * no list of entity tags.
 */
export function parseIfMatch(text: string): IfMatch | undefined {
  if (text.trim() === '*') return '*';
  if (!entityTags.test(text)) return undefined;
  const strong = [...text.matchAll(oneTag)].filter(([, weak]) => weak === undefined).map(([, , tag = '']) => tag);
  return strong.filter((tag) => revision.test(tag)).map(Number);
}

/**
 * `If-Match` and `If-None-Match` of a write to what is there, at `current` as far as this node knows. Throws INVALID for what
 * is no list of entity tags, PRECONDITION_FAILED where `If-None-Match` names what is there, by `*` or by its revision (RFC
 * 9110 §13.1.2): without it a client that means to create only would overwrite. What it lets pass must not move meanwhile.
 */
export function conditionsOf(request: ApiRequest, current: number | undefined): { ifMatch?: IfMatch } {
  const conditions = ifMatchOf(request);
  const text = single(request, 'if-none-match');
  if (text === undefined) return conditions;
  const isAny = text.trim() === '*';
  if (!isAny && !entityTags.test(text)) {
    throw new SluiceError('INVALID', 'If-None-Match must be * or a list of quoted revisions');
  }
  const isNamed = isAny || [...text.matchAll(oneTag)].some(([, , tag]) => tag === String(current));
  if (isNamed)
    throw new SluiceError('PRECONDITION_FAILED', `If-None-Match names what is there, at revision ${current}`);
  return current === undefined ? conditions : { ifMatch: [current], ...conditions };
}

/**
 * `Idempotency-Key` of the request, scoped to the API key and the path, with the hash of the raw body and of parameters that
 * decide what is done: `activate` and `activate?confirmWithin=60s` are two requests.
 * Throws INVALID unless the key has 1 to 128 visible ASCII characters.
 */
export function idempotencyOf(request: ApiRequest): { idempotency?: Idempotency } {
  return drain(idempotencyIn(request));
}

/** Returns the same in steps, for bodies of tens of megabytes. */
export function* idempotencyIn(request: ApiRequest): Generator<void, { idempotency?: Idempotency }> {
  const key = single(request, 'idempotency-key');
  if (key === undefined) return {};
  if (!visible.test(key)) throw new SluiceError('INVALID', 'Idempotency-Key must have 1 to 128 visible characters');
  const { body, query } = request;
  const hash = createHash('sha256');
  for (let at = 0; at < body.length; at += hashedAtATime) {
    hash.update(body.subarray(at, at + hashedAtATime));
    yield;
  }
  for (const name of decidingParameters) {
    const value = query[name] ?? '';
    if (value !== '' && value !== 'false') hash.update(`\n${name}=${value}`);
  }
  const bodyHash = hash.digest('hex');
  return { idempotency: { scope: `${request.caller.name}\n${request.path}\n${key}`, bodyHash } };
}

/** Others decide how the request is checked and answered. */
const decidingParameters = ['confirmWithin', 'failOn', 'force', 'strict'] as const;

/** Bytes hashed in a step, about half a millisecond. */
const hashedAtATime = 256 * 1024;

function single({ headers }: ApiRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}
