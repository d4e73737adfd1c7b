// Scan of JSON for what `JSON.parse` does not tell: keys that are given twice, and the place of a JSON pointer.

/** Called for each key and each element. Returning true ends the scan. */
type OnEntry = (segment: string | number, at: number, depth: number, isRepeated: boolean) => boolean;

/** Returns the offset of the first key that its object has already, or undefined. The text must be valid JSON. */
export function repeatedKey(text: string): { readonly key: string; readonly at: number } | undefined {
  let found: { readonly key: string; readonly at: number } | undefined;
  scan(text, (segment, at, _, isRepeated) => {
    if (isRepeated) found = { key: String(segment), at };
    return isRepeated;
  });
  return found;
}

/** Returns the offset of the key, or of the element, that the segments lead to, or of the last one that is there. */
export function offsetOf(text: string, segments: readonly string[]): number {
  let at = Math.max(0, text.search(/\S/));
  let reached = 0;
  scan(text, (segment, here, depth) => {
    if (depth < reached) return true;
    if (depth > reached || String(segment) !== segments[reached]) return false;
    at = here;
    reached += 1;
    return reached === segments.length;
  });
  return at;
}

interface Level {
  readonly keys: Set<string> | undefined;
  index: number;
}

function scan(text: string, onEntry: OnEntry): void {
  const levels: Level[] = [];
  let expectsEntry = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    const level = levels.at(-1);
    const isValue = character === 0x22 || character === 0x7b || character === 0x5b || character > 0x2c;
    if (level?.keys === undefined && level !== undefined && expectsEntry && isValue && character !== 0x5d) {
      expectsEntry = false;
      if (onEntry(level.index, at, levels.length - 1, false)) return;
      level.index += 1;
    }
    if (character === 0x22) {
      const end = endOfText(text, at);
      if (level?.keys !== undefined && expectsEntry) {
        const key = JSON.parse(text.slice(at, end + 1)) as string;
        expectsEntry = false;
        if (onEntry(key, at, levels.length - 1, level.keys.has(key))) return;
        level.keys.add(key);
      }
      at = end;
    } else if (character === 0x7b || character === 0x5b) {
      levels.push({ keys: character === 0x7b ? new Set() : undefined, index: 0 });
      expectsEntry = true;
    } else if (character === 0x7d || character === 0x5d) {
      levels.pop();
      expectsEntry = false;
    } else if (character === 0x2c) expectsEntry = true;
  }
}

/** Returns the offset of the quote that ends a text. */
function endOfText(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
