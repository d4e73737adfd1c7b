// Citations of the pages of docs/ within a text (`contract.md §6.4`, `raft.md A14 M8, A19`), and the marks that a page offers.

const page = /(?<![\w/.-])((?:[\w.-]+\/)*)([\w-]+\.md)\b/g;
const joined = /^(?:[\s,;]|–|-|and|with|to|or)*/;
const rule = /^(?:§(\d+(?:\.\d+)*)|([A-Z]\d+(?:\.\d+)*))(?!\w)/;
const restOfRange = /^[–-]§?(\d+(?:\.\d+)*)(?!\w)/;

/** Comments of a source file run over lines; what begins a line of them is no part of what they say. */
export const unwrapped = (source: string): string => source.replace(/\n\s*(?:\/\/|\*(?!\/)|#)?[ \t]*/g, ' ');

interface Citation {
  /** Folder with a trailing slash; empty where the citation has none. */
  readonly folder: string;
  readonly name: string;
  readonly rules: readonly string[];
}

/**
 * Citation in a text: `folder` and `name` of the page, and the `rules` that are named behind it. The end of a range is a rule
 * of its own: `§6.7–8` are 6.7 and 6.8.
 */
export function citationsIn(text: string): Citation[] {
  return [...text.matchAll(page)].map(({ 0: all, 1: folder = '', 2: name = '', index }) => ({
    folder,
    name,
    rules: rulesAt(text.slice(index + all.length)),
  }));
}

function rulesAt(text: string): string[] {
  const rules: string[] = [];
  let rest = text;
  for (;;) {
    const [between = ''] = joined.exec(rest) ?? [];
    const found = rule.exec(rest.slice(between.length));
    if (found === null) return rules;
    const first = found[1] ?? found[2] ?? '';
    rules.push(first);
    rest = rest.slice(between.length + found[0].length);
    const [range = '', last = ''] = restOfRange.exec(rest) ?? [];
    if (range === '') continue;
    const isShort = !last.includes('.') && first.includes('.');
    rules.push(isShort ? first.replace(/\d+$/, last) : last);
    rest = rest.slice(range.length);
  }
}

const heading = /^#+ ([A-Z]?\d+(?:\.\d+)*)[. ]/;
const item = /^(\d+)\. /;
const bold = /^[-*] \*\*([A-Z]\d+)\*\*/;
const row = /^\| ?([A-Z]?\d+) \|/;

/** Numbers of the sections of a page, and of the items, rules and rows below them: `6`, `6.18`, `A6.1`, `P3`, `J12`. */
export function rulesOf(markdown: string): Set<string> {
  const rules = new Set<string>();
  let section = '';
  for (const line of markdown.split('\n')) {
    const title = heading.exec(line)?.[1];
    if (title !== undefined) {
      section = title;
      rules.add(title);
    }
    const named = bold.exec(line)?.[1] ?? row.exec(line)?.[1] ?? item.exec(line)?.[1];
    if (named === undefined) continue;
    rules.add(/^[A-Z]/.test(named) ? named : `${section}.${named}`);
  }
  return rules;
}

const link = /\]\(([^)\s]+)\)/g;

/** Files that a page of the documentation links to, from where it is. */
export const linksIn = (markdown: string): string[] =>
  [...markdown.matchAll(link)]
    .map(([, target = '']) => target.split('#')[0] ?? '')
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
