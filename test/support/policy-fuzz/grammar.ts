// Field lines of HTTP/1.1 by the grammar alone (RFC 9110 §5.1, §5.5).

/** Name and value as they were sent. */
export type SentField = readonly [name: string, value: string];

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these may stand in no value
const forbidden = /[\0-\x08\x0a-\x1f\x7f]/;

export const isToken = (text: string): boolean => token.test(text);

/** Text without control characters, tabs aside. */
export const isText = (text: string): boolean => !forbidden.test(text);

/** Undefined for a line that is none. */
export function fieldOf(line: string): SentField | undefined {
  const [, name = '', value = ''] = /^([^:]*):[ \t]*(.*)$/s.exec(line) ?? [];
  return isToken(name) && isText(value) ? [name, value] : undefined;
}
