// condition-never and condition-always: conditions that no request, or every request, meets.
import { foldCel } from '../../expression/cel/fold.ts';
import { canonicalPath } from '../../model/canonical-path.ts';
import type { Group } from '../../model/group.ts';
import type { Route } from '../../model/route.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { hostMatches, parseHostPattern } from '../../proxy/target/host.ts';
import { nameOf, placeIn, placeOf, type RawFinding } from '../finding.ts';
import { literalStart } from '../pattern-sample.ts';
import type { Subject } from '../subject.ts';

interface Constant {
  readonly pointer: string;
  readonly value: boolean;
  readonly why: string;
}

export const neverMet = (subject: Subject) => constants(subject, false);
export const alwaysMet = (subject: Subject) => constants(subject, true);

function* constants(subject: Subject, wanted: boolean): Generator<void, readonly RawFinding[]> {
  const { routes, groups } = subject.configuration;
  const found: RawFinding[] = [];
  for (const [kind, list] of [
    ['routes', routes],
    ['groups', groups],
  ] as const) {
    for (const entity of list) {
      if (subject.isPause() || holdsExpressions(entity)) yield;
      for (const { pointer, value, why } of constantsIn(kind, entity))
        if (value === wanted) found.push(told(placeIn(kind, entity, pointer), why));
    }
  }
  if (wanted) return found;
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    const why = excludedHosts(subject, entry);
    if (why !== undefined) found.push(told(placeOf(entry, '/match/hostnames'), `${nameOf(entry)} ${why}`));
  }
  return found;
}

/** Expressions and patterns take longer than all else. */
const holdsExpressions = (entity: Route | Group): boolean =>
  entity.middlewareOverrides !== undefined ||
  ('match' in entity && (entity.match?.cel !== undefined || entity.match?.pathRegex !== undefined)) ||
  'pathRegex' in entity;

const told = (place: ReturnType<typeof placeIn>, message: string): RawFinding => ({
  severity: 'warning',
  ...place,
  message,
  witness: null,
  because: [],
});

function* constantsIn(kind: 'routes' | 'groups', entity: Route | Group): Generator<Constant> {
  const isRoute = kind === 'routes';
  const match = isRoute ? ((entity as Route).match ?? {}) : (entity as Group);
  const at = isRoute ? '/match' : '';
  const cel = isRoute ? (entity as Route).match?.cel : undefined;
  const folded = cel === undefined ? undefined : foldCel(cel);
  if (folded !== undefined)
    yield { pointer: '/match/cel', value: folded, why: `the condition is ${folded} for every request` };
  for (const [id, override] of Object.entries(entity.middlewareOverrides ?? {})) {
    for (const field of ['skipWhen', 'onlyWhen'] as const) {
      for (const [place, source] of (override[field] ?? []).entries()) {
        const value = foldCel(source);
        if (value === undefined) continue;
        const pointer = `/middlewareOverrides/${escaped(id)}/${field}/${place}`;
        yield { pointer, value, why: `the condition is ${value} for every request` };
      }
    }
  }
  if (match.pathRegex !== undefined) {
    // Behind a group's prefix a pattern continues a path, and does not begin one.
    const value = isRoute ? ofPattern(match.pathRegex, false) : ofPattern(match.pathRegex, true);
    const why = value === true ? 'the pattern matches every path' : 'no canonical path matches the pattern';
    if (value !== undefined) yield { pointer: `${at}/pathRegex`, value, why };
  }
  for (const field of ['path', 'pathPrefix'] as const) {
    if (!isRoute) continue;
    const text = (entity as Route).match?.[field];
    const canonical = text === undefined ? undefined : canonicalPath(text);
    if (canonical === undefined || canonical === text) continue;
    const why = `no request has this path as it is written: its canonical form is "${canonical}"`;
    yield { pointer: `/match/${field}`, value: false, why };
  }
}

const everyPath = new Set([
  '',
  '.*',
  '.+',
  '/',
  '/.*',
  '/?',
  '/?.*',
  '^',
  '^/',
  '^/.*',
  '^.*',
  '^.+',
  '(.*)',
  '/(.*)',
  '^/(.*)',
  '^/(.*)$',
  '^.*$',
  '.*$',
  '/.*$',
  '^/.*$',
]);

/** Undefined: some paths, or unknown. `isFirst`: the pattern begins the path. */
function ofPattern(pattern: string, isFirst: boolean): boolean | undefined {
  if (everyPath.has(pattern)) return true;
  const start = literalStart(pattern);
  if (start === '') return undefined;
  if (isFirst && !start.startsWith('/')) return false;
  if (!start.startsWith('/')) return undefined;
  const whole = start.slice(0, start.lastIndexOf('/') + 1);
  return canonicalPath(whole) === whole ? undefined : false;
}

/** Hosts that no section of the entry's listeners hands to it. */
function excludedHosts(subject: Subject, { hosts, bindings, path }: RankedEntry): string | undefined {
  if (path.type === 'regex' && path.text === '') return undefined;
  if (bindings === undefined || bindings.length === 0 || hosts.length === 0) return undefined;
  const patterns: ReturnType<typeof parseHostPattern>[] = [];
  for (const binding of bindings) {
    const [id = '', ...rest] = binding.split('/');
    const listener = subject.listeners.find((each) => each.id === id);
    if (listener === undefined) return undefined;
    const sections = listener.sections ?? [];
    const chosen = rest.length === 0 ? sections : sections.filter(({ name }) => name === rest.join('/'));
    if (chosen.length === 0) return undefined;
    for (const { hostnames = [] } of chosen) {
      if (hostnames.length === 0) return undefined;
      patterns.push(...hostnames.map(parseHostPattern));
    }
  }
  const overlaps = hosts.some((host) => patterns.some((pattern) => overlap(host, pattern)));
  return overlaps ? undefined : 'asks for hosts that the sections of its listeners exclude';
}

type Pattern = ReturnType<typeof parseHostPattern>;

const overlap = (one: Pattern, other: Pattern): boolean =>
  one.kind === 'any' || other.kind === 'any' || hostMatches(one, sample(other)) || hostMatches(other, sample(one));

const sample = ({ kind, text }: Pattern): string => (kind === 'suffix' ? `a${text}` : text);

const escaped = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');
