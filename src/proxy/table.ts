// The routing table: a configuration brought into the order of contract.md §6.4, scanned from the top. Built whole
// by `buildTable` whenever a configuration is installed; the first entry that matches wins.
import { RE2JS } from 're2js';
import type { Group } from '../model/group.ts';
import type { Configuration } from '../model/proxy-config.ts';
import type { Match, Route } from '../model/route.ts';
import { canonicalPath } from './canonical-path.ts';

/** What matching looks at. `path` is canonical, `host` lower-case and without port, `query` without `?`. */
export interface Question {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  /** First value of the field, by lower-case name. */
  header(name: string): string | undefined;
}

export interface Entry {
  readonly route: Route;
  readonly group: Group | undefined;
  /** How the composed path matches; decides order and how a redirect joins paths. */
  readonly pathType: 'exact' | 'prefix' | 'regex';
  /** The route part of the path was exact or a regex: a redirect path replaces all of it. */
  readonly routePathIsWhole: boolean;
  readonly middlewareIds: readonly string[];
  /** Length of the matched start of `path`, or −1. */
  matchPath(path: string): number;
  matchRest(question: Question): boolean;
}

export interface Table {
  match(question: Question): Entry | undefined;
}

export function buildTable({ groups, routes }: Configuration): Table {
  const byId = new Map(routes.map((route) => [route.id, route]));
  const grouped = new Set<string>();
  const ranked: Ranked[] = [];
  for (const group of groups) {
    (group.routeIds ?? []).forEach((id: string, position: number) => {
      const route = byId.get(id);
      if (route === undefined) return;
      grouped.add(id);
      ranked.push(rank(route, group, position));
    });
  }
  for (const route of routes) if (!grouped.has(route.id)) ranked.push(rank(route, undefined, 0));
  const entries = ranked.toSorted((a, b) => compareKeys(a.key, b.key)).map(({ entry }) => entry);
  return {
    match: (question) => entries.find((entry) => entry.matchPath(question.path) >= 0 && entry.matchRest(question)),
  };
}

interface Ranked {
  readonly entry: Entry;
  /** Ascending; the twelve keys of contract.md §6.4 in order. */
  readonly key: readonly (number | string)[];
}

function rank(route: Route, group: Group | undefined, position: number): Ranked {
  const match: Match = route.match ?? {};
  const path = composePath(match, group);
  const hostnames = [...(group?.hostnames ?? []), ...(match.hostnames ?? [])].map((name) => name.toLowerCase());
  const headers = [...(group?.headers ?? []), ...(match.headers ?? [])].map(fieldTest);
  const query = (match.queryParams ?? []).map(fieldTest);
  const methods = new Set((match.methods ?? []).map((method) => method.toUpperCase()));
  const entry: Entry = {
    route,
    group,
    pathType: path.type,
    routePathIsWhole: match.path !== undefined || match.pathRegex !== undefined,
    middlewareIds: [...new Set([...(group?.middlewareIds ?? []), ...(route.middlewareIds ?? [])])],
    matchPath: path.matched,
    matchRest: (question) =>
      (methods.size === 0 || methods.has(question.method.toUpperCase())) &&
      (hostnames.length === 0 || hostnames.some((pattern) => hostMatches(pattern, question.host))) &&
      headers.every(({ name, test }) => test(question.header(name.toLowerCase()) || undefined)) &&
      (match.grpc !== true || (question.header('content-type') ?? '').startsWith('application/grpc')) &&
      (query.length === 0 || queryMatches(query, question.query)),
  };
  const typeRank = { exact: 0, prefix: 1, regex: 2 }[path.type];
  const key = [
    typeRank,
    path.type === 'prefix' ? -path.length : 0,
    -headers.length,
    hostClass(hostnames),
    -query.length,
    methods.size > 0 ? 0 : 1,
    match.grpc === true ? 0 : 1,
    0,
    group === undefined ? 1 : 0,
    group?.name ?? '',
    position,
    route.name,
    route.id,
  ];
  return { entry, key };
}

interface PathTest {
  readonly type: Entry['pathType'];
  readonly length: number;
  readonly matched: (path: string) => number;
}

/** The eight cases of contract.md §6.2, prefixes by whole segments (architecture.md §6.7). */
function composePath(match: Match, group: Group | undefined): PathTest {
  const prefix = group?.pathPrefix ?? '';
  if (group?.pathRegex !== undefined && group.pathRegex !== '') {
    const start = `^(?:${bare(group.pathRegex)})`;
    if (match.path !== undefined) return regexTest(`${start}(?:${RE2JS.quote(literal(match.path))})$`);
    if (match.pathPrefix !== undefined)
      return regexTest(`${start}(?:${RE2JS.quote(trimmed(literal(match.pathPrefix)))})(?:/|$)`);
    return regexTest(match.pathRegex === undefined ? start : `${start}(?:${bare(match.pathRegex)})`);
  }
  if (match.pathRegex !== undefined)
    return regexTest(`^${RE2JS.quote(prefix === '' ? '' : literal(prefix))}(?:${bare(match.pathRegex)})`);
  if (match.path !== undefined) return exactTest(literal(prefix + match.path));
  return prefixTest(trimmed(literal(prefix + (match.pathPrefix ?? '') || '/')));
}

const exactTest = (whole: string): PathTest => ({
  type: 'exact',
  length: whole.length,
  matched: (path) => (path === whole ? whole.length : -1),
});

const prefixTest = (prefix: string): PathTest => ({
  type: 'prefix',
  length: prefix.length,
  matched: (path) =>
    path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/') ? prefix.length : -1,
});

function regexTest(pattern: string): PathTest {
  const regex = RE2JS.compile(pattern);
  return {
    type: 'regex',
    length: 0,
    matched(path) {
      const matcher = regex.matcher(path);
      return matcher.lookingAt() ? matcher.end() : -1;
    },
  };
}

const bare = (pattern: string): string => pattern.replace(/^\^/, '');
const trimmed = (prefix: string): string => prefix.replace(/\/$/, '');
const literal = (path: string): string => canonicalPath(encodeURI(path).replaceAll(/%25/g, '%')) ?? path;

interface FieldTest {
  readonly name: string;
  readonly test: (value: string | undefined) => boolean;
}

function fieldTest({ name, value, regex }: { name: string; value?: string; regex?: boolean }): FieldTest {
  if (value === undefined) return { name, test: (found) => found !== undefined };
  if (regex !== true) return { name, test: (found) => found === value };
  const pattern = RE2JS.compile(value);
  return { name, test: (found) => found !== undefined && pattern.matcher(found).find() };
}

function queryMatches(tests: readonly FieldTest[], query: string): boolean {
  const parameters = new URLSearchParams(query);
  return tests.every(({ name, test }) => test(parameters.get(name) ?? undefined));
}

const hostMatches = (pattern: string, host: string): boolean =>
  pattern === '*' ||
  pattern === host ||
  (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)) && host.length >= pattern.length);

function hostClass(hostnames: readonly string[]): number {
  if (hostnames.length === 0 || hostnames.includes('*')) return 2;
  return hostnames.some((name) => name.startsWith('*.')) ? 1 : 0;
}

function compareKeys(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (let i = 0; i < a.length; i++) {
    const left = a[i] ?? 0;
    const right = b[i] ?? 0;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
