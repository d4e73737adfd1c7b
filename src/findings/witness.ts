// Witnesses: requests that meet what entries ask for, as far as that can be told from their matchers.
import type { Witness } from '../model/answers/finding-answers.ts';
import type { Listener } from '../model/listener.ts';
import { schemeOf } from '../proxy/explain/explained-listener.ts';
import type { RankedEntry } from '../proxy/match/route-entry.ts';
import { type HostPattern, hostMatches } from '../proxy/target/host.ts';
import { headersOf, methodsOf } from './conditions.ts';
import { isBehindHttps } from './forwarded-https.ts';
import { literalStart, sampleOf } from './pattern-sample.ts';

/** Hosts, and paths, that are tried. */
const triedMax = 8;
const anyHost = 'host.example';

/** Candidates of requests on a listener; the caller tests them. */
export function* requestsFor(entries: readonly RankedEntry[], listener: Listener | undefined): Generator<Witness> {
  const scheme = listener === undefined ? wantedScheme(entries) : schemeOf(listener);
  const methods = commonMethods(entries);
  const fields = fieldsOf(entries, listener);
  const query = queryOf(entries);
  if (methods === undefined || fields === undefined || query === undefined) return;
  for (const host of hostsFor(entries, listener)) {
    for (const path of pathsFor(entries)) {
      const authority = host.includes(':') ? `[${host}]` : host;
      const url = `${scheme}://${authority}${path}${query}`;
      yield {
        method: methods[0] ?? 'GET',
        url,
        headers: fields,
        ...(listener !== undefined && { listener: listener.id }),
      };
    }
  }
}

function wantedScheme(entries: readonly RankedEntry[]): string {
  for (const { route } of entries) if (route.match?.scheme !== undefined) return route.match.scheme;
  return 'http';
}

/** Methods that all take; empty: all; undefined: none. */
function commonMethods(entries: readonly RankedEntry[]): readonly string[] | undefined {
  let common: readonly string[] = [];
  for (const entry of entries) {
    const methods = methodsOf(entry);
    if (methods === undefined) continue;
    common = common.length === 0 ? methods : common.filter((each) => methods.includes(each));
    if (common.length === 0) return undefined;
  }
  return common;
}

/** Undefined: one asks for a field of which no value is known. */
function fieldsOf(
  entries: readonly RankedEntry[],
  listener: Listener | undefined,
): Readonly<Record<string, string>> | undefined {
  // Routes of a listener that redirects serve clients that came to a trusted proxy by https.
  const fields: Record<string, string> = isBehindHttps(listener) ? { 'x-forwarded-proto': 'https' } : {};
  for (const entry of entries) {
    if (entry.route.match?.grpc === true) fields['content-type'] ??= 'application/grpc';
    for (const { name, value, regex } of headersOf(entry)) {
      if (name === 'host') continue;
      const sample = value === undefined ? (fields[name] ?? 'x') : regex === true ? sampleOf(value) : value;
      if (sample === undefined) return undefined;
      if (regex !== true || fields[name] === undefined) fields[name] = sample;
    }
  }
  return fields;
}

function queryOf(entries: readonly RankedEntry[]): string | undefined {
  const values = new Map<string, string>();
  for (const { route } of entries) {
    for (const { name, value, regex } of route.match?.queryParams ?? []) {
      const sample = value === undefined ? (values.get(name) ?? '1') : regex === true ? sampleOf(value) : value;
      if (sample === undefined) return undefined;
      if (regex !== true || !values.has(name)) values.set(name, sample);
    }
  }
  const parts = [...values].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

function hostsFor(entries: readonly RankedEntry[], listener: Listener | undefined): readonly string[] {
  const ofSections = (listener?.sections ?? []).flatMap(({ hostnames = [] }) => hostnames.map(exampleOf));
  const own = entries.flatMap(({ hosts }) => hosts.map((pattern) => hostOfPattern(pattern)));
  const all = [...own, ...ofSections, anyHost];
  const fitting = all.filter((host) =>
    entries.every(({ hosts }) => hosts.length === 0 || hosts.some((pattern) => hostMatches(pattern, host))),
  );
  return [...new Set(fitting)].slice(0, triedMax);
}

const hostOfPattern = ({ kind, text }: HostPattern): string =>
  kind === 'any' ? anyHost : kind === 'suffix' ? `host${text}` : text;

const exampleOf = (pattern: string): string =>
  pattern === '*'
    ? anyHost
    : pattern.startsWith('*.')
      ? `host${pattern.slice(1)}`.toLowerCase()
      : pattern.toLowerCase();

function pathsFor(entries: readonly RankedEntry[]): readonly string[] {
  const paths = entries.flatMap(({ path: { type, text } }) => {
    if (type === 'exact') return [text];
    if (type === 'prefix') return text === '' ? ['/'] : [text, `${text}/x`];
    const start = literalStart(text);
    return [sampleOf(text) ?? start, start, `${start}x`, '/', '/x'];
  });
  return [...new Set(paths)].filter((path) => path.startsWith('/')).slice(0, triedMax);
}
