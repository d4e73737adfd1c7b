// JSON of a request body (contract.md §0.2 J1–J3), read before any schema looks at it: small ones at once, large ones with
// turns for others.
import { SluiceError } from '../errors.ts';
import { isObject, type JsonObject } from '../model/json-object.ts';
import { inSlices, runSliced } from '../util/time-slice.ts';
import { readJson } from './json-reader.ts';

/** Returns the body as a JSON object. Rejects with INVALID for anything else, an empty body included, and with TOO_MANY_KEYS. */
export async function objectBody(bytes: Buffer): Promise<JsonObject> {
  return await runSliced(bytes.length, objectIn(bytes), inSlices);
}

/** Returns the body of an operation without required fields: nothing, `null` and an object are the same (J2). `most`: as of `readJson`. */
export async function optionalBody(bytes: Buffer, most?: number): Promise<JsonObject> {
  const value = bytes.length === 0 ? null : await runSliced(bytes.length, readJson(bytes, most), inSlices);
  if (value === null) return {};
  if (!isObject(value)) throw invalid('body must be empty, null or a JSON object');
  return value;
}

/** Parses an object in steps. Throws as `objectBody` rejects. */
export function* objectIn(bytes: Buffer): Generator<void, JsonObject> {
  if (bytes.length === 0) throw invalid('body must be a JSON object, but it is empty');
  const value = yield* readJson(bytes);
  if (!isObject(value)) throw invalid('body must be a JSON object');
  return value;
}

const invalid = (message: string): SluiceError => new SluiceError('INVALID', message);
