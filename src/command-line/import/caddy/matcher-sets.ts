// Matchers of Caddy as the match of a route: sets of which one must match, and in each all of its matchers.
import { quoteRegex } from '../../../expression/regex.ts';
import type { Fields } from '../fields.ts';
import type { PathMatch } from '../intermediate.ts';
import { clientIn, isCidr, regexProblem } from '../shared/common.ts';
import { fromBeginning } from '../shared/path-expressions.ts';
import { pathOf } from './path-patterns.ts';

export interface CaddyMatch {
  readonly hosts: readonly string[];
  readonly path?: PathMatch;
  readonly methods: readonly string[];
  /** Conditions that must all be true. */
  readonly cels: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
}

export const anything: CaddyMatch = { hosts: [], methods: [], cels: [], headers: {}, query: '' };

/** Alternatives of the matcher sets of a route; undefined where one has no counterpart. */
export function alternativesOf(sets: readonly Fields[]): CaddyMatch[] | undefined {
  if (sets.length === 0) return [anything];
  const found = sets.map(setOf);
  return found.some((each) => each === undefined) ? undefined : found.flatMap((each) => each ?? []);
}

/** A set is one alternative for each of its paths. */
function setOf(set: Fields): CaddyMatch[] | undefined {
  const cels: string[] = [];
  let headers: Record<string, string> = {};
  let query = '';
  for (const key of set.keys) {
    if (key === 'host' || key === 'path' || key === 'method') continue;
    const condition = conditionOf(key, set);
    if (condition === undefined) return undefined;
    cels.push(condition.cel);
    headers = { ...headers, ...condition.headers };
    query ||= condition.query ?? '';
  }
  const base = { hosts: set.texts('host'), methods: set.texts('method'), cels, headers, query };
  const regexp = set.child('path_regexp')?.text('pattern');
  const paths = set.texts('path');
  if (paths.length === 0)
    return [regexp === undefined ? base : { ...base, path: { is: 'regex', text: fromBeginning(regexp) } }];
  const found = paths.map(pathOf);
  return found.some((path) => path === undefined)
    ? undefined
    : found.map((path) => ({ ...base, ...(path && { path }) }));
}

const pathCondition = ({ is, text }: PathMatch): string =>
  is === 'exact'
    ? `request.path == ${JSON.stringify(text)}`
    : is === 'regex'
      ? `request.path.matches(${JSON.stringify(`^(?:${text})`)})`
      : `request.path.startsWith(${JSON.stringify(text)})`;

interface Condition {
  readonly cel: string;
  readonly headers?: Record<string, string>;
  readonly query?: string;
}

function conditionOf(key: string, set: Fields): Condition | undefined {
  const fields = set.child(key);
  if (fields === undefined) return undefined;
  switch (key) {
    case 'header': {
      const parts = fields.keys.map((name) => ({ name: name.toLowerCase(), values: fields.texts(name) }));
      const cel = parts.map(({ name, values }) => {
        const own = `request.headers[${JSON.stringify(name)}]`;
        const any = values.map((value) => wildcard(own, value)).join(' || ');
        return `(${JSON.stringify(name)} in request.headers && (${any || 'true'}))`;
      });
      return {
        cel: cel.join(' && '),
        headers: Object.fromEntries(parts.map(({ name, values }) => [name, (values[0] ?? 'x').replaceAll('*', 'x')])),
      };
    }
    case 'query': {
      const parts = fields.keys.map((name) => ({ name, values: fields.texts(name) }));
      const cel = parts.map(({ name, values }) => {
        const own = `request.queryParams[${JSON.stringify(name)}]`;
        return `(${JSON.stringify(name)} in request.queryParams && (${values.map((value) => (value === '*' ? 'true' : `${own} == ${JSON.stringify(value)}`)).join(' || ')}))`;
      });
      return {
        cel: cel.join(' && '),
        query: `?${parts.map(({ name, values }) => `${name}=${values[0] === '*' ? 'x' : (values[0] ?? '')}`).join('&')}`,
      };
    }
    case 'remote_ip':
    case 'client_ip': {
      const ranges = fields.texts('ranges');
      return ranges.length > 0 && ranges.every(isCidr) ? { cel: `(${clientIn(ranges)})` } : undefined;
    }
    case 'protocol':
      return { cel: `request.scheme == ${JSON.stringify(fields.value ?? 'http')}` };
    case 'path_regexp': {
      const pattern = fields.text('pattern') ?? '';
      fields.text('name');
      return regexProblem(pattern) === undefined
        ? { cel: `request.path.matches(${JSON.stringify(pattern)})` }
        : undefined;
    }
    case 'not': {
      const inner = alternativesOf(set.list('not'));
      if (inner === undefined) return undefined;
      return { cel: `!(${inner.map((each) => `(${celOf(each)})`).join(' || ')})` };
    }
    default:
      return undefined;
  }
}

function wildcard(own: string, value: string): string {
  if (value === '*') return 'true';
  if (!value.includes('*')) return `${own} == ${JSON.stringify(value)}`;
  return `${own}.matches(${JSON.stringify(
    `^${value
      .split('*')
      .map((each) => quoteRegex(each))
      .join('.*')}$`,
  )})`;
}

/** The whole alternative as one condition. */
function celOf({ hosts, path, methods, cels }: CaddyMatch): string {
  const hostOf = (host: string) =>
    host.startsWith('*.')
      ? `request.host.matches(${JSON.stringify(`^[^.]+${quoteRegex(host.slice(1))}$`)})`
      : `request.host == ${JSON.stringify(host)}`;
  const parts = [
    ...(hosts.length > 0 ? [`(${hosts.map(hostOf).join(' || ')})`] : []),
    ...(path !== undefined ? [pathCondition(path)] : []),
    ...(methods.length > 0 ? [`request.method in ${JSON.stringify(methods)}`] : []),
    ...cels,
  ];
  return parts.length === 0 ? 'true' : parts.join(' && ');
}

/** Returns the match of two that must agree: what only one of them says stands as a field, the rest as a condition. */
export function both(outer: CaddyMatch, inner: CaddyMatch): CaddyMatch {
  const cels = [...outer.cels, ...inner.cels];
  if (outer.hosts.length > 0 && inner.hosts.length > 0) cels.push(celOf({ ...anything, hosts: inner.hosts }));
  if (outer.path !== undefined && inner.path !== undefined) cels.push(pathCondition(outer.path));
  if (outer.methods.length > 0 && inner.methods.length > 0) cels.push(celOf({ ...anything, methods: inner.methods }));
  const path = inner.path ?? outer.path;
  return {
    hosts: outer.hosts.length > 0 ? outer.hosts : inner.hosts,
    ...(path !== undefined && { path }),
    methods: outer.methods.length > 0 ? outer.methods : inner.methods,
    cels,
    headers: { ...outer.headers, ...inner.headers },
    query: inner.query || outer.query,
  };
}
