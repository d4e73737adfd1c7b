// Values of YAML, bounded: depth, aliases and the length of a line. Keys that are given twice are faults, and variables are
// filled in where they stand.
import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, parseAllDocuments, Scalar } from 'yaml';
import type { Variables } from './variables.ts';
import { plainValue } from './yaml-lines.ts';
import { type Section, sectionsOf, wholeMax } from './yaml-sections.ts';

export interface TextFault {
  /** Offset in the text. */
  readonly at: number;
  readonly message: string;
}

const depthMax = 64;
const lineMax = 256 * 1024;
/** Nodes that aliases may add. */
const aliasedMax = 100_000;

/** Document of a text; `offsetOf` finds the key, or the element, that segments lead to. */
export interface YamlDocument {
  readonly value: unknown;
  offsetOf(segments: readonly string[]): number;
}

/** Parses all documents of a text. What has faults is left out. */
export function yamlValues(text: string, variables: Variables, onFault: (fault: TextFault) => void): YamlDocument[] {
  const long = longLine(text);
  if (long !== undefined) {
    onFault({ at: long, message: `the line has more than ${lineMax} characters` });
    return [];
  }
  return sectionsOf(text).flatMap((sections) => {
    const [first] = sections;
    if (sections.length === 1 && first !== undefined && first.wrap === undefined)
      return wholeDocuments(text, first, variables, onFault);
    return [
      { value: joined(text, sections, variables, onFault), offsetOf: (segments) => offsetIn(text, sections, segments) },
    ];
  });
}

/** A text that cannot be divided may hold several documents. */
function wholeDocuments(
  text: string,
  { start, end }: Section,
  variables: Variables,
  onFault: (fault: TextFault) => void,
): YamlDocument[] {
  const own = text.slice(start, end);
  if (own.length > wholeMax) {
    onFault({ at: start, message: `has more than ${wholeMax / 1024 / 1024} MiB that must be read at once` });
    return [];
  }
  const told = ({ at, message }: TextFault) => onFault({ at: start + at, message });
  return parsed(own, told).flatMap((document) => {
    const value = documentValue(document, variables, told);
    return value === undefined ? [] : [{ value, offsetOf: (segments) => start + yamlOffset(document, segments) }];
  });
}

/** Value of a document from those of its sections. */
function joined(
  text: string,
  sections: readonly Section[],
  variables: Variables,
  onFault: (fault: TextFault) => void,
): unknown {
  const map: Record<string, unknown> = {};
  for (const { start, end, path, wrap } of sections) {
    const [key = ''] = path;
    const value = sectionValue(text.slice(start, end), variables, ({ at, message }) =>
      onFault({ at: start + at, message }),
    );
    const isElement = wrap === 'element';
    if (isElement ? path[1] === '0' && Object.hasOwn(map, key) : Object.hasOwn(map, key)) {
      onFault({ at: start, message: `the key ${JSON.stringify(key)} is given twice` });
      continue;
    }
    if (!isElement) map[key] = (value as Fields | undefined)?.[key];
    else {
      if (!Object.hasOwn(map, key)) map[key] = [];
      (map[key] as unknown[]).push((value as readonly unknown[] | undefined)?.[0]);
    }
  }
  return map;
}

type Fields = Readonly<Record<string, unknown>>;

/** Value of one section: of the plain reader where it can, else of the library, which tells faults with their places. */
function sectionValue(text: string, variables: Variables, onFault: (fault: TextFault) => void): unknown {
  let isUnset = false;
  const plain = plainValue(text, (scalar, isPlain) =>
    scalar.includes('$')
      ? variables.fill(scalar, isPlain, () => {
          isUnset = true;
        })
      : scalar,
  );
  if (plain !== undefined && !isUnset) return plain;
  const [document] = parsed(text, onFault);
  return document === undefined ? undefined : documentValue(document, variables, onFault);
}

function offsetIn(text: string, sections: readonly Section[], segments: readonly string[]): number {
  const [key, element] = segments;
  const section =
    sections.find(({ path, wrap }) => path[0] === key && (wrap === 'key' || path[1] === element)) ??
    sections.find(({ path }) => path[0] === key) ??
    sections[0];
  if (section === undefined) return 0;
  const { start, end, wrap } = section;
  // The key of a list stands on a line before its first element.
  if (wrap === 'element' && element === undefined) return Math.max(0, text.lastIndexOf(`${key}:`, start));
  const [document] = parsed(text.slice(start, end), () => undefined);
  if (document === undefined) return start;
  return start + yamlOffset(document, wrap === 'element' ? ['0', ...segments.slice(2)] : segments);
}

function parsed(text: string, onFault: (fault: TextFault) => void): readonly Document[] {
  try {
    const documents = parseAllDocuments(text, {
      uniqueKeys: false,
      prettyErrors: false,
      stringKeys: false,
      logLevel: 'silent',
    });
    return Array.isArray(documents) ? documents : [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    onFault({ at: deepestLine(text), message: `is nested deeper than ${depthMax} levels` });
    return [];
  }
}

function documentValue(document: Document, variables: Variables, onFault: (fault: TextFault) => void): unknown {
  for (const { message, pos } of document.errors) onFault({ at: pos[0], message: plainMessage(message) });
  return document.errors.length > 0 ? undefined : new Reader(document, variables, onFault).value();
}

class Reader {
  readonly #document: Document;
  readonly #variables: Variables;
  readonly #onFault: (fault: TextFault) => void;
  /** The last node of each anchor so far: an alias means that one. */
  readonly #anchors = new Map<string, Node>();
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
    if ('anchor' in node && node.anchor !== undefined && !this.#isWithinAlias) this.#anchors.set(node.anchor, node);
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
      else if (name === '<<' && key.type === Scalar.PLAIN)
        this.#refuse(here, 'keys are not merged (<<), which YAML 1.2 does not know: write them out');
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

  #alias({ source }: Alias, depth: number, at: number): unknown {
    const target = this.#anchors.get(source);
    if (target === undefined) return this.#refuse(at, `there is no anchor ${source}`);
    const outermost = !this.#isWithinAlias;
    this.#isWithinAlias = true;
    const value = this.#read(target, depth, at);
    if (!outermost) return value;
    this.#isWithinAlias = false;
    if (this.#aliased <= aliasedMax) return value;
    this.#aliased = 0;
    return this.#refuse(at, `aliases stand for more than ${aliasedMax} values`);
  }

  #refuse(at: number, message: string): undefined {
    this.#onFault({ at, message });
  }
}

/** Returns the offset of the key, or of the element, that the segments lead to, or of the last one that is there. */
function yamlOffset(document: Document, segments: readonly string[]): number {
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
  if (line.includes('call stack')) return `is nested deeper than ${depthMax} levels`;
  return line.includes('Tabs are not allowed')
    ? 'a tab must not indent: use blanks'
    : line.charAt(0).toLowerCase() + line.slice(1);
}
