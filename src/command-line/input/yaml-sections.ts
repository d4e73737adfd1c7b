// Sections of a text of YAML that are read by themselves, so that a list of a hundred thousand resources is no tree of a
// million nodes: documents, and elements of the lists at the top of a document.

export interface Section {
  /** Offsets in the text. */
  readonly start: number;
  readonly end: number;
  /** Place of its value in the document. */
  readonly path: readonly string[];
  /** The section is written as a list of one element, or a map of one key, that holds the value. */
  readonly wrap: 'element' | 'key' | undefined;
}

/** Anchors and aliases reach across sections, directives across documents. */
const reaching = /(?:^|[\s[{,])[&*][^\s,[\]{}]|^%/m;

/** Bytes of a text that is read as a whole. */
export const wholeMax = 4 * 1024 * 1024;

/** Returns the sections of each document; one section for a document that cannot be divided. */
export function sectionsOf(text: string): Section[][] {
  const whole = (start: number, end: number): Section[] => [{ start, end, path: [], wrap: undefined }];
  if (reaching.test(text)) return [whole(0, text.length)];
  return documentsIn(text).map(([start, end]) => divided(text, start, end) ?? whole(start, end));
}

function documentsIn(text: string): [start: number, end: number][] {
  const found: [number, number][] = [];
  let start = 0;
  for (const { index } of text.matchAll(/^(?:---|\.\.\.)(?=[ \n\r]|$)/gm)) {
    if (index > start) found.push([start, index]);
    start = index;
  }
  found.push([start, text.length]);
  return found;
}

const isBlank = (line: string): boolean => /^\s*(#.*)?$/.test(line);

function divided(text: string, from: number, end: number): Section[] | undefined {
  const sections: Section[] = [];
  let key: string | undefined;
  /** Blanks before the elements of the list under `key`; undefined while its first line is looked for. */
  let indent: number | undefined;
  let open: { readonly start: number; readonly path: readonly string[]; readonly wrap: 'element' | 'key' } | undefined;
  let count = 0;
  const close = (at: number) => {
    if (open !== undefined) sections.push({ ...open, end: at });
    open = undefined;
  };
  for (let at = from, next = 0; at < end; at = next) {
    const lineEnd = text.indexOf('\n', at);
    next = lineEnd < 0 || lineEnd >= end ? end : lineEnd + 1;
    const line = text.slice(at, next);
    if (isBlank(line)) continue;
    if (/^(?:---|\.\.\.)\s*$/.test(line)) {
      if (at !== from) return undefined;
      continue;
    }
    const blanks = line.search(/[^ ]/);
    const isElement = /^ *-(?:\s|$)/.test(line);
    if (blanks === 0 && !isElement) {
      close(at);
      const [, name, rest = ''] = /^([A-Za-z][A-Za-z0-9]*):(?:[ \r\n]+(.*))?$/s.exec(line) ?? [];
      if (name === undefined) return undefined;
      [key, indent, count] = [name, undefined, 0];
      open = { start: at, path: [name], wrap: 'key' };
      if (!isBlank(rest)) key = undefined;
      continue;
    }
    if (key === undefined) {
      if (open === undefined) return undefined;
      continue;
    }
    if (indent === undefined) {
      if (!isElement) {
        key = undefined;
        continue;
      }
      // The value is a list: its elements are sections, and the key is none.
      indent = blanks;
      open = undefined;
    }
    if (isElement && blanks === indent) {
      close(at);
      open = { start: at, path: [key, String(count)], wrap: 'element' };
      count += 1;
    } else if (blanks <= indent) return undefined;
  }
  close(end);
  return sections;
}
