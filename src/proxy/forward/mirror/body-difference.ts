// Difference of two kept bodies: of JSON by structure, of all else by bytes.
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { DifferingText } from '../../exchange/verdict.ts';
import type { ComparePlan } from './compare-plan.ts';
import { jsonDifference, parsedJson } from './json-difference.ts';
import type { KeptBody } from './kept-body.ts';

export interface BodyDifference {
  /** JSON pointer; undefined where bytes were compared. */
  readonly pointer: string | undefined;
  readonly primary: DifferingText | undefined;
  readonly mirror: DifferingText | undefined;
}

export interface ComparedBody {
  readonly kept: KeptBody;
  /** Value of `Content-Encoding`. */
  readonly coding: string | undefined;
}

const textMax = 4_096;
const leadMax = 1_024;
/** Bytes of a decoded body: reading it as JSON holds the thread. */
const decodedMax = 1 << 20;

/** Returns the first difference; undefined when the bodies are the same. */
export function bodyDifference(a: ComparedBody, b: ComparedBody, plan: ComparePlan): BodyDifference | undefined {
  if (a.kept.isSame(b.kept) && (plan.body === 'bytes' || a.coding === b.coding)) return undefined;
  const [left, right] = [a.kept.bytes, b.kept.bytes];
  if (left === undefined || right === undefined) {
    const [primary, mirror] = [a.kept.digest(), b.kept.digest()];
    return primary === mirror ? undefined : { pointer: undefined, primary: whole(primary), mirror: whole(mirror) };
  }
  return (plan.body === 'json' ? ofJson(decoded(left, a.coding), decoded(right, b.coding), plan) : ofBytes(left, right))
    .found;
}

interface Result {
  readonly found: BodyDifference | undefined;
}

function ofJson(left: Buffer, right: Buffer, { ignore }: ComparePlan): Result {
  const [a, b] = [parsedJson(left.toString()), parsedJson(right.toString())];
  if (a === undefined || b === undefined) return ofBytes(left, right);
  const found = jsonDifference(a.value, b.value, ignore);
  if (found === undefined) return { found };
  const { pointer, primary, mirror } = found;
  return { found: { pointer, primary: whole(primary), mirror: whole(mirror) } };
}

function ofBytes(left: Buffer, right: Buffer): Result {
  if (left.equals(right)) return { found: undefined };
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return { found: { pointer: undefined, primary: around(left, at), mirror: around(right, at) } };
}

function whole(text: string | undefined): DifferingText | undefined {
  return text === undefined ? undefined : { text: text.slice(0, textMax), from: 0 };
}

function around(bytes: Buffer, at: number): DifferingText | undefined {
  if (at >= bytes.length) return undefined;
  // The first byte of the character that differs.
  let from = at;
  while (from > 0 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from--;
  const lead = bytes.toString('utf8', Math.max(0, from - leadMax), from);
  return { text: lead + bytes.toString('utf8', from, from + textMax), from: lead.length };
}

const decoders: Readonly<Record<string, (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Returns the body without its coding; as it came where it cannot be decoded. */
function decoded(bytes: Buffer, coding: string | undefined): Buffer {
  const name = coding?.toLowerCase() ?? '';
  const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (decode === undefined) return bytes;
  try {
    return decode(bytes, { maxOutputLength: decodedMax });
  } catch {
    return bytes;
  }
}
