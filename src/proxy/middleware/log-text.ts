// Values in a log line: nothing that a client sends can begin another line, or another field of a JSON one, or speak
// to the terminal that shows it.
import { readableText } from '../fields/field-lines.ts';

/** Fields whose value is a credential: a log shows that they were present, not their value. */
const credentials: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);

/** A field's value as a log shows it; absent is empty. */
export function loggedField(lowerName: string, value: string | undefined): string {
  if (value === undefined || value === '') return '';
  return credentials.has(lowerName) ? '[redacted]' : readableText(value);
}

const harmless = /^[ !#-[\]-~]*$/;

/** As it stands between the quotes of a JSON string. */
export function jsonInner(value: string): string {
  if (harmless.test(value)) return value;
  return JSON.stringify(value).slice(1, -1).replaceAll(unprintable, escaped);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a log
const unprintable = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/g;

function escaped(character: string): string {
  if (character === '\r') return '\\r';
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
