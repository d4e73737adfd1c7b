// Values of YAML, bounded: depth, aliases and the length of a line. Keys that are given twice are faults, and variables are
// filled in where they stand.
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseAllDocuments, Scalar } from 'yaml';
import type { Variables } from './variables.ts';

export interface TextFault {
  /** Offset in the text. */
  readonly at: number;
  readonly message: string;
}

export interface YamlDocument {
  readonly value: unknown;
  readonly document: Document;
}

const depthMax = 64;
const lineMax = 256 * 1024;
/** Nodes that aliases may add. */
const aliasedMax = 100_000;

/** Parses all documents of a text. A document with faults has the value undefined. */
export function yamlValues(text: string, variables: Variables, onFault: (fault: TextFault) => void): YamlDocument[] {
  const long = longLine(text);
  if (long !== undefined) {
    onFault({ at: long, message: `the line has more than ${lineMax} characters` });
    return [];
  }
  let documents: readonly Document[];
  try {
    const parsed = parseAllDocuments(text, {
      uniqueKeys: false,
      prettyErrors: false,
      stringKeys: false,
      logLevel: 'silent',
    });
    documents = Array.isArray(parsed) ? parsed : [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    onFault({ at: deepestLine(text), message: `is nested deeper than ${depthMax} levels` });
    return [];
  }
  return documents.map((document) => {
    for (const { message, pos } of document.errors) onFault({ at: pos[0], message: plainMessage(message) });
    const value = document.errors.length > 0 ? undefined : new Reader(document, variables, onFault).value();
    return { value, document };
  });
}

class Reader {
  readonly #document: Document;
  readonly #variables: Variables;
  readonly #onFault: (fault: TextFault) => void;
  #aliased = 0;
  #isWithinAlias = false;

  constructor(document: Document, variables: Variables, onFault: (fault: TextFault) => void) {
    this.#document = document;
    this.#variables = variables;
    this.#onFault = onFault;
  }

  value(): unknown {
    const contents = this.#document.contents as Node | null;
    return this.#read(contents, 0, contents?.range?.[0] ?? 0);
  }

  /** `here`: place of faults about the value, its key or itself where it is an element. */
  #read(node: Node | null | undefined, depth: number, here: number): unknown {
    if (node === null || node === undefined) return null;
    if (depth > depthMax) return this.#refuse(here, `is nested deeper than ${depthMax} levels`);
    if (this.#isWithinAlias && ++this.#aliased > aliasedMax) return undefined;
    if (isAlias(node)) return this.#alias(node, depth, here);
    if (isScalar(node)) return this.#scalar(node, here);
    if (isSeq(node))
      return node.items.map((item) => this.#read(item as Node, depth + 1, (item as Node)?.range?.[0] ?? here));
    if (isMap(node)) return this.#map(node.items as readonly { key: unknown; value: unknown }[], depth, here);
    return this.#refuse(here, 'is no value of JSON');
  }

  #map(items: readonly { readonly key: unknown; readonly value: unknown }[], depth: number, at: number): unknown {
    const map: Record<string, unknown> = {};
    for (const { key, value } of items) {
      const here = (key as Node | null)?.range?.[0] ?? at;
      if (!isScalar(key) || typeof key.value === 'object') {
        this.#refuse(here, 'a key must be a text');
        continue;
      }
      const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
      if (Object.hasOwn(map, name)) this.#refuse(here, `the key ${JSON.stringify(name)} is given twice`);
      else if (name === '__proto__') this.#refuse(here, '__proto__ must not be used as a key');
      else map[name] = this.#read(value as Node, depth + 1, here);
    }
    return map;
  }

  #scalar(node: Scalar, at: number): unknown {
    const { value } = node;
    if (typeof value === 'bigint') return Number(value);
    if (typeof value !== 'string' || !value.includes('$')) return value;
    return this.#variables.fill(value, node.type === Scalar.PLAIN, (message) => this.#refuse(at, message));
  }

  #alias(
    node: { readonly source: string; resolve(document: Document): Node | undefined },
    depth: number,
    at: number,
  ): unknown {
    const target = node.resolve(this.#document);
    if (target === undefined) return this.#refuse(at, `there is no anchor ${node.source}`);
    const outermost = !this.#isWithinAlias;
    this.#isWithinAlias = true;
    const value = this.#read(target, depth, at);
    if (outermost) {
      this.#isWithinAlias = false;
      if (this.#aliased > aliasedMax) {
        this.#aliased = 0;
        return this.#refuse(at, `aliases stand for more than ${aliasedMax} values`);
      }
    }
    return value;
  }

  #refuse(at: number, message: string): undefined {
    this.#onFault({ at, message });
  }
}

/** Returns the offset of the key, or of the element, that the segments lead to, or of the last one that is there. */
export function yamlOffset(document: Document, segments: readonly string[]): number {
  let node = document.contents as unknown;
  let at = (node as Node | null)?.range?.[0] ?? 0;
  for (const segment of segments) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(
        ({ key }) => isScalar(key) && (String(key.value) === segment || key.source === segment),
      );
      if (pair === undefined) return at;
      at = (pair.key as Node).range?.[0] ?? at;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(segment)] as Node | undefined;
      if (item === undefined) return at;
      at = item.range?.[0] ?? at;
      node = item;
    } else return at;
  }
  return at;
}

function longLine(text: string): number | undefined {
  if (text.length <= lineMax) return undefined;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    if ((end < 0 ? text.length : end) - at > lineMax) return at;
    if (end < 0) return undefined;
    at = end + 1;
  }
  return undefined;
}

/** Offset of the first line that opens very many collections. */
function deepestLine(text: string): number {
  const deep = /(?:[[{]\s*|- ){64}|^ {200}/m.exec(text);
  return deep?.index ?? 0;
}

/** Messages of the library, without the excerpt, and in the words of the page. */
function plainMessage(message: string): string {
  const [line = ''] = message.split('\n', 1);
  return line.includes('Tabs are not allowed')
    ? 'a tab must not indent: use blanks'
    : line.charAt(0).toLowerCase() + line.slice(1);
}
