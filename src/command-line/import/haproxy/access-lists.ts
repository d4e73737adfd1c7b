// Conditions of HAProxy: lists of access lists joined by and, or and not, as alternatives of terms.
import type { ImportedRoute, ModelFields } from '../intermediate.ts';
import type { Statement } from '../statement.ts';
import { type NoTerm, type Term, termOf } from './fetches.ts';
import type { Section } from './proxy-section.ts';

/** Terms that all hold, in one alternative at least. */
export type Condition = readonly (readonly Term[])[];

export type AccessLists = ReadonlyMap<string, Term | NoTerm>;

const always: Condition = [[]];

export const isCondition = (condition: Condition | NoTerm): condition is Condition => Array.isArray(condition);

const predefined: Readonly<Record<string, readonly string[]>> = {
  TRUE: ['always_true'],
  FALSE: ['always_false'],
  HTTP: ['always_true'],
  HTTP_1_1: ['always_true'],
  LOCALHOST: ['src', '127.0.0.1/8', '::1'],
  METH_CONNECT: ['method', 'CONNECT'],
  METH_DELETE: ['method', 'DELETE'],
  METH_GET: ['method', 'GET', 'HEAD'],
  METH_HEAD: ['method', 'HEAD'],
  METH_OPTIONS: ['method', 'OPTIONS'],
  METH_POST: ['method', 'POST'],
  METH_PUT: ['method', 'PUT'],
  METH_TRACE: ['method', 'TRACE'],
};

function predefinedTerm(name: string): Term | NoTerm | undefined {
  const words = predefined[name];
  return words === undefined ? undefined : termOf(words);
}

/** Access lists of a section by name; several of one name are alternatives. */
export function accessLists({ statements, ledger }: Section): AccessLists {
  const lists = new Map<string, Term | NoTerm>();
  for (const statement of statements.filter(({ key }) => key === 'acl')) {
    const [name = '', ...words] = statement.words;
    const term = termOf(words);
    if ('why' in term) ledger.notTaken(statement, term.why, term.isLimit ? 'rateLimit' : 'match.cel');
    else ledger.taken(statement);
    const before = lists.get(name);
    lists.set(name, before === undefined ? term : either(before, term));
  }
  return lists;
}

const either = (a: Term | NoTerm, b: Term | NoTerm): Term | NoTerm => {
  if ('why' in a) return a;
  if ('why' in b) return b;
  if (a.users !== undefined || b.users !== undefined)
    return { why: 'several lists of users have no counterpart', isLimit: false };
  if (a.limit !== undefined || b.limit !== undefined)
    return { why: 'alternatives of limits have no counterpart', isLimit: true };
  if (a.sni !== undefined || b.sni !== undefined) return { cel: 'false', sni: [...(a.sni ?? []), ...(b.sni ?? [])] };
  return { cel: `(${a.cel}) || (${b.cel})`, ...(a.sample !== undefined && { sample: a.sample }) };
};

/** Words of a statement before its condition, and the condition. */
export function conditioned(
  { words }: Statement,
  lists: AccessLists,
): { readonly words: readonly string[]; readonly condition: Condition | NoTerm } {
  const at = words.findLastIndex((each) => each === 'if' || each === 'unless');
  if (at < 0) return { words, condition: always };
  const read = alternativesOf(words.slice(at + 1), lists);
  const condition = isCondition(read) && words[at] === 'unless' ? negated(read) : read;
  return { words: words.slice(0, at), condition };
}

function alternativesOf(words: readonly string[], lists: AccessLists): Condition | NoTerm {
  const alternatives: Term[][] = [[]];
  let isNegated = false;
  for (let at = 0; at < words.length; at += 1) {
    let word = words[at] ?? '';
    if (word === 'or' || word === '||') {
      alternatives.push([]);
      continue;
    }
    for (; word.startsWith('!'); word = word.slice(1)) isNegated = !isNegated;
    if (word === '') continue;
    let term: Term | NoTerm | undefined;
    if (word === '{') {
      const end = words.indexOf('}', at);
      if (end < 0) return { why: 'the brace is not closed', isLimit: false };
      term = termOf(words.slice(at + 1, end));
      at = end;
    } else term = lists.get(word) ?? predefinedTerm(word);
    if (term === undefined) return { why: `there is no acl ${word}`, isLimit: false };
    if ('why' in term) return term;
    alternatives.at(-1)?.push(isNegated ? inverse(term) : term);
    isNegated = false;
  }
  return alternatives.some((each) => each.length === 0)
    ? { why: 'a condition is empty', isLimit: false }
    : alternatives;
}

function inverse(term: Term): Term {
  if (term.scheme !== undefined) {
    const scheme = term.scheme === 'https' ? 'http' : 'https';
    return { cel: `request.scheme == "${scheme}"`, scheme };
  }
  return {
    cel: `!(${term.cel})`,
    isNegated: term.isNegated !== true,
    ...(term.users !== undefined && { users: term.users }),
    ...(term.sni !== undefined && { sni: term.sni }),
    ...(term.limit !== undefined && { limit: term.limit }),
  };
}

export function negated(condition: Condition): Condition {
  const [first = []] = condition;
  if (condition.every((each) => each.length === 1)) return [condition.flatMap((each) => each.map(inverse))];
  if (condition.length === 1) return first.map((each) => [inverse(each)]);
  return [[{ cel: `!(${celOf(condition)})` }]];
}

/** Expression of the whole condition. */
export const celOf = (condition: Condition): string =>
  condition.map((terms) => terms.map(({ cel }) => `(${cel})`).join(' && ') || 'true').join(' || ');

type MatchPart = Pick<ImportedRoute, 'hosts' | 'path' | 'match' | 'sample'>;

/** Returns the match of terms that all hold: fields where there are such, and CEL for the rest. */
export function matchOf(terms: readonly Term[]): MatchPart {
  let [hosts, path, methods, scheme]: [Term['hosts'], Term['path'], Term['methods'], Term['scheme']] = [
    undefined,
    undefined,
    undefined,
    undefined,
  ];
  const cel: string[] = [];
  let sample: NonNullable<ImportedRoute['sample']> = {};
  for (const term of terms) {
    if (term.isNegated !== true)
      sample = { ...term.sample, ...sample, headers: { ...term.sample?.headers, ...sample.headers } };
    if (term.hosts !== undefined && hosts === undefined) hosts = term.hosts;
    else if (term.path !== undefined && path === undefined) path = term.path;
    else if (term.methods !== undefined && methods === undefined) methods = term.methods;
    else if (term.scheme !== undefined && scheme === undefined) scheme = term.scheme;
    else if (term.cel !== 'true') cel.push(term.cel);
  }
  const match: ModelFields = {
    ...(methods !== undefined && { methods }),
    ...(scheme !== undefined && { scheme }),
    ...(cel.length > 0 && { cel: cel.length === 1 ? cel[0] : cel.map((each) => `(${each})`).join(' && ') }),
  };
  return { hosts: hosts ?? [], match, sample, ...(path !== undefined && { path }) };
}
