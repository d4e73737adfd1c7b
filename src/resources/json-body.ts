// JSON of a request body (contract.md §0.2 J1–J3), read before any schema looks at it. It refuses what JSON allows and
// the rest of the program must never meet: prototype keys, endless nesting, numbers and text that do not survive a
// round trip.
import { SluiceError } from '../errors.ts';
import { isObject, type JsonObject } from '../model/json-object.ts';

const maxDepth = 64;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The body as a JSON object. Throws INVALID for anything else, an empty body included. */
export function objectBody(bytes: Buffer): JsonObject {
  const value = parse(bytes);
  if (!isObject(value)) throw invalid('body must be a JSON object');
  return value;
}

/** For operations that take no payload: nothing, `null` and an object are the same (J2). */
export function optionalBody(bytes: Buffer): JsonObject {
  const value = bytes.length === 0 ? null : parse(bytes);
  if (value === null) return {};
  if (!isObject(value)) throw invalid('body must be empty, null or a JSON object');
  return value;
}

/** Any JSON value, or what is wrong with the bytes. */
export type JsonBody =
  | { readonly kind: 'json'; readonly json: unknown }
  | { readonly kind: 'problem'; readonly problem: string };

export function jsonOf(bytes: Buffer): JsonBody {
  try {
    return { kind: 'json', json: parse(bytes) };
  } catch (error) {
    if (error instanceof SluiceError) return { kind: 'problem', problem: error.message.replace(/^body /, '') };
    throw error;
  }
}

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) throw invalid('body must be a JSON object, but it is empty');
  const value = parseText(decode(bytes));
  refuseHostile(value);
  return value;
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid('body is not valid UTF-8');
  }
}

// The parser's own message may quote the body, and so a secret: only the position is passed on.
function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = error instanceof Error ? / at position \d+/.exec(error.message)?.[0] : undefined;
    throw invalid(`body is not valid JSON${position ?? ''}`);
  }
}

// A loop and not a recursion: a body of brackets alone must not exhaust the stack.
function refuseHostile(root: unknown): void {
  const open: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (depth > maxDepth) throw invalid(`body is nested deeper than ${maxDepth} levels`);
    if (typeof value === 'string') refuseIllFormed(value);
    if (typeof value === 'number' && !Number.isFinite(value)) throw invalid('body holds a number out of range');
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) Object.keys(value).forEach(refuseKey);
    for (const child of Object.values(value)) open.push({ value: child, depth: depth + 1 });
  }
}

function refuseKey(key: string): void {
  if (key === '__proto__') throw invalid('body holds the forbidden key __proto__');
  refuseIllFormed(key);
}

function refuseIllFormed(text: string): void {
  if (!text.isWellFormed()) throw invalid('body holds a lone surrogate');
}

const invalid = (message: string): SluiceError => new SluiceError('INVALID', message);
