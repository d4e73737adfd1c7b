// Reader of plain YAML: block collections, scalars and flow collections of one line each. All else is left to the library,
// which takes twenty times as long.

/** Reads a scalar as it is written; the second argument is true for one without quotes. */
export type ReadText = (text: string, isPlain: boolean) => unknown;

interface Line {
  readonly indent: number;
  readonly text: string;
}

/** Thrown where the text is not plain, and caught at once. */
const notPlain = new Error('not plain');

const depthMax = 60;

/** Returns the value of one block collection, or undefined when the library has to read it. */
export function plainValue(text: string, readText: ReadText): unknown {
  try {
    const reader = new LineReader(linesOf(text), readText);
    const value = reader.block(0, 0);
    return reader.isAtEnd ? value : undefined;
  } catch (error) {
    if (error === notPlain) return undefined;
    throw error;
  }
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (const line of text.split('\n')) {
    const ended = line.endsWith('\r') ? line.slice(0, -1) : line;
    const indent = ended.search(/[^ ]/);
    if (indent < 0 || ended[indent] === '#') continue;
    if (ended.includes('\t')) throw notPlain;
    lines.push({ indent, text: ended.slice(indent) });
  }
  return lines;
}

class LineReader {
  readonly #lines: Line[];
  readonly #readText: ReadText;
  #at = 0;

  constructor(lines: Line[], readText: ReadText) {
    this.#lines = lines;
    this.#readText = readText;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#lines.length;
  }

  /** Reads the collection that begins at the present line, which is indented by at least `least`. */
  block(least: number, depth: number): unknown {
    const line = this.#lines[this.#at];
    if (line === undefined || line.indent < least || depth > depthMax) throw notPlain;
    return isElement(line.text) ? this.#list(line.indent, depth) : this.#map(line.indent, depth);
  }

  #list(indent: number, depth: number): unknown[] {
    const list: unknown[] = [];
    for (;;) {
      const line = this.#lines[this.#at];
      if (line === undefined || line.indent !== indent || !isElement(line.text)) break;
      const rest = line.text.slice(1);
      const inner = rest.trimStart();
      if (inner === '' || inner.startsWith('#')) {
        this.#at += 1;
        const next = this.#lines[this.#at];
        list.push(next !== undefined && next.indent > indent ? this.block(indent + 1, depth + 1) : null);
      } else if (isElement(inner) || keyEnd(inner) >= 0) {
        // The text behind the hyphen is a collection of its own, indented by where it begins.
        this.#lines[this.#at] = { indent: indent + 1 + (rest.length - inner.length), text: inner };
        list.push(this.block(indent + 1, depth + 1));
      } else {
        this.#at += 1;
        list.push(this.#inline(inner, indent, depth));
      }
    }
    this.#ended(indent);
    return list;
  }

  #map(indent: number, depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    for (;;) {
      const line = this.#lines[this.#at];
      if (line === undefined || line.indent !== indent || isElement(line.text)) break;
      const end = keyEnd(line.text);
      if (end < 0) throw notPlain;
      const key = keyOf(line.text.slice(0, end));
      if (key === '__proto__' || Object.hasOwn(map, key)) throw notPlain;
      const rest = line.text.slice(end + 1).trimStart();
      this.#at += 1;
      map[key] = rest === '' || rest.startsWith('#') ? this.#below(indent, depth) : this.#inline(rest, indent, depth);
    }
    this.#ended(indent);
    return map;
  }

  /** Value of a key that stands on the lines below it: a list may be indented as its key is. */
  #below(indent: number, depth: number): unknown {
    const next = this.#lines[this.#at];
    if (next === undefined || next.indent < indent) return null;
    if (next.indent > indent) return this.block(indent + 1, depth + 1);
    return isElement(next.text) ? this.#list(indent, depth + 1) : null;
  }

  #inline(text: string, indent: number, depth: number): unknown {
    // A scalar may go on in the next line.
    const next = this.#lines[this.#at];
    if (next !== undefined && next.indent > indent) throw notPlain;
    const flow = new FlowReader(text, this.#readText, depth);
    return flow.line();
  }

  #ended(indent: number): void {
    const next = this.#lines[this.#at];
    if (next !== undefined && next.indent > indent) throw notPlain;
  }
}

const isElement = (text: string): boolean => text === '-' || text.startsWith('- ');

const plainKey = /^[A-Za-z0-9_./~%+$][A-Za-z0-9_./~%+$@-]*(?=:(?: |$))/;
const quotedKey = /^(?:"[^"\\]*"|'[^']*')(?=:(?: |$))/;

/** Offset of the colon behind the key at the beginning of a text, or -1. */
function keyEnd(text: string): number {
  const found = plainKey.exec(text) ?? quotedKey.exec(text);
  return found === null ? -1 : found[0].length;
}

const keyOf = (text: string): string => (/^["']/.test(text) ? text.slice(1, -1) : text);

/** Reader of scalars and flow collections of one line. */
class FlowReader {
  readonly #text: string;
  readonly #readText: ReadText;
  readonly #depth: number;
  #at = 0;

  constructor(text: string, readText: ReadText, depth: number) {
    this.#text = text;
    this.#readText = readText;
    this.#depth = depth;
  }

  line(): unknown {
    const first = this.#text[0];
    const isFlow = first === '[' || first === '{' || first === '"' || first === "'";
    const value = isFlow ? this.#value(this.#depth) : this.#plain(this.#text.replace(/ +#.*$/, '').trimEnd(), false);
    if (!isFlow) return value;
    if (!/^ *(?: #.*)?$/.test(this.#text.slice(this.#at))) throw notPlain;
    return value;
  }

  #value(depth: number): unknown {
    if (depth > depthMax) throw notPlain;
    this.#skip();
    const character = this.#text[this.#at];
    if (character === '[') return this.#list(depth);
    if (character === '{') return this.#map(depth);
    if (character === '"' || character === "'") return this.#readText(this.#quoted(), false);
    const end = this.#text.slice(this.#at).search(/[,[\]{}]/);
    if (end < 0) throw notPlain;
    const text = this.#text.slice(this.#at, this.#at + end);
    this.#at += end;
    return this.#plain(text.trimEnd(), true);
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = [];
    this.#at += 1;
    for (this.#skip(); this.#text[this.#at] !== ']'; this.#skip()) {
      list.push(this.#value(depth + 1));
      this.#separate(']');
    }
    this.#at += 1;
    return list;
  }

  #map(depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    this.#at += 1;
    for (this.#skip(); this.#text[this.#at] !== '}'; this.#skip()) {
      const rest = this.#text.slice(this.#at);
      const end = keyEnd(rest);
      if (end < 0) throw notPlain;
      const key = keyOf(rest.slice(0, end));
      if (key === '__proto__' || Object.hasOwn(map, key)) throw notPlain;
      this.#at += end + 1;
      map[key] = this.#value(depth + 1);
      this.#separate('}');
    }
    this.#at += 1;
    return map;
  }

  #separate(end: string): void {
    this.#skip();
    const character = this.#text[this.#at];
    if (character === ',') this.#at += 1;
    else if (character !== end) throw notPlain;
  }

  #skip(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
    if (this.#at >= this.#text.length) throw notPlain;
  }

  #quoted(): string {
    const [found = ''] =
      /^(?:"(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"|'(?:[^']|'')*')/.exec(this.#text.slice(this.#at)) ?? [];
    if (found === '') throw notPlain;
    this.#at += found.length;
    if (!found.startsWith('"')) return found.slice(1, -1).replaceAll("''", "'");
    try {
      return JSON.parse(found) as string;
    } catch {
      throw notPlain;
    }
  }

  #plain(text: string, isInFlow: boolean): unknown {
    if (text === '' || /^[,[\]{}#&*!|>'"%@`]|^[-?:](?: |$)|: |:$| #/.test(text)) throw notPlain;
    if (isInFlow && /^[-?:]|:/.test(text)) throw notPlain;
    return scalarOf(text, this.#readText);
  }
}

/** Value of a plain scalar by the core schema (YAML 1.2.2 §10.3.2); its rarer numbers are left to the library. */
function scalarOf(text: string, readText: ReadText): unknown {
  const first = text.charCodeAt(0);
  if (first >= 0x30 && first <= 0x39 ? !/[^0-9]/.test(text) : /^-[0-9]+$/.test(text)) return Number(text);
  if (/^(?:[-+.]|[0-9])/.test(text) && /^[-+]?(?:\.?[0-9]|\.inf|\.nan)/i.test(text)) {
    if (/^-?[0-9]+(?:\.[0-9]+)?$/.test(text)) return Number(text);
    if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$|^0[ox]|^[-+]?\.(?:inf|nan)$/i.test(text))
      throw notPlain;
  }
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^(?:null|Null|NULL|~)$/.test(text)) return null;
  return readText(text, true);
}
