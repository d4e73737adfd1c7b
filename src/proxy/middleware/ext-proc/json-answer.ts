// The JSON of a processor's answer (contract.md §8.6.1). A field of another type than it has there makes the answer a
// bad one: a `removeHeaders` that is a text would otherwise let through what it was to take away.
import { isObject } from '../../../model/json-object.ts';
import { ExternalFailure } from '../../external/external-failure.ts';
import type { Message } from '../../external/message-reading.ts';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isPair: Check = (value) => isObject(value) && isText(value.key) && isText(value.value ?? '');
const listOf =
  (each: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(each);
/** Padded or not. */
const notBase64 = /[^A-Za-z0-9+/]/;
const isBase64: Check = (value) => {
  if (typeof value !== 'string') return false;
  const bare = value.replace(/={1,2}$/, '');
  return bare.length % 4 !== 1 && !notBase64.test(bare);
};

const fields: readonly (readonly [name: string, check: Check, expected: string])[] = [
  ['action', isText, 'a text'],
  ['status', isText, 'a text'],
  ['setHeaders', listOf(isPair), 'a list of {"key","value"}'],
  ['removeHeaders', listOf(isText), 'a list of texts'],
  ['replaceBody', isBase64, 'base64'],
  ['clearBody', (value) => typeof value === 'boolean', 'true or false'],
  ['rejectStatus', Number.isInteger, 'an integer'],
  ['rejectHeaders', listOf(isPair), 'a list of {"key","value"}'],
  ['rejectBody', isBase64, 'base64'],
];

/** Throws ExternalFailure, which names what is wrong. Null counts as absent. */
export function readJsonAnswer(bytes: Buffer): Message {
  const document = objectIn(bytes);
  for (const [name, check, expected] of fields) {
    const value = document[name] ?? undefined;
    if (value !== undefined && !check(value)) throw new ExternalFailure(`${name} of the answer is not ${expected}`);
  }
  return document;
}

function objectIn(bytes: Buffer): Message {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw new ExternalFailure('the answer is no JSON object');
}
