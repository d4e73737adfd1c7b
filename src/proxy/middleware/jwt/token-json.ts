// Objects inside a token: UTF-8, an object at the top, and no member named twice. JSON.parse takes the last of two
// members and another parser the first, so a token with both would mean one thing here and another there (RFC 7519 §4).

/** Undefined when the bytes are not such an object. */
export function parseJsonObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return hasTwins(text) ? undefined : (value as Readonly<Record<string, unknown>>);
  } catch {
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Returns whether any object of a valid JSON text names a member twice. */
function hasTwins(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{') open.push(new Set());
    else if (character === '[') open.push(undefined);
    else if (character === '}' || character === ']') open.pop();
    else if (character === '"') {
      const end = endOfString(text, at);
      const names = open.at(-1);
      if (names !== undefined && isName(text, end)) {
        const name: unknown = JSON.parse(text.slice(at, end));
        if (typeof name === 'string' && names.size === names.add(name).size) return true;
      }
      at = end - 1;
    }
  }
  return false;
}

/** Returns the end of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** A string before a colon is a member's name. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at++;
  return text[at] === ':';
}
