// condition-never and condition-always: conditions that no request, or every request, meets.

import { foldCel } from '../../expression/cel/fold.ts';
import type { FoundPlace } from '../../model/answers/finding-answers.ts';
import { canonicalPath } from '../../model/canonical-path.ts';
import type { Group } from '../../model/group.ts';
import type { Match } from '../../model/match.ts';
import type { Route } from '../../model/route.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { hostMatches, parseHostPattern } from '../../proxy/target/host.ts';
import { nameOf, placeIn, placeOf, type RawFinding } from '../finding.ts';
import { literalStart } from '../pattern-sample.ts';
import type { Subject } from '../subject.ts';

interface Constant {
  readonly place: FoundPlace;
  readonly value: boolean;
  readonly why: string;
}

export function* alwaysMet(subject: Subject): Generator<void, readonly RawFinding[]> {
  const constants = yield* constantsOf(subject);
  return constants.filter(({ value }) => value).map(told);
}

export function* neverMet(subject: Subject): Generator<void, readonly RawFinding[]> {
  const constants = yield* constantsOf(subject);
  const found = constants.filter(({ value }) => !value).map(told);
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    const why = excludedHosts(subject, entry);
    if (why !== undefined)
      found.push(told({ place: placeOf(entry, '/match/hostnames'), why: `${nameOf(entry)} ${why}` }));
  }
  return found;
}

const known = new WeakMap<Subject, readonly Constant[]>();

/** Constant conditions of routes and groups; looked for once, for both rules. */
function* constantsOf(subject: Subject): Generator<void, readonly Constant[]> {
  const before = known.get(subject);
  if (before !== undefined) return before;
  const { routes, groups } = subject.configuration;
  const found: Constant[] = [];
  for (const [kind, list] of [
    ['routes', routes],
    ['groups', groups],
  ] as const) {
    for (const entity of list) {
      if (subject.isPause() || holdsExpressions(entity)) yield;
      addConstants(kind, entity, found);
    }
  }
  known.set(subject, found);
  return found;
}

/** Expressions and patterns take longer than all else. */
const holdsExpressions = (entity: Route | Group): boolean =>
  entity.middlewareOverrides !== undefined ||
  ('match' in entity && (entity.match?.cel !== undefined || entity.match?.pathRegex !== undefined)) ||
  'pathRegex' in entity;

const told = ({ place, why }: Pick<Constant, 'place' | 'why'>): RawFinding => ({
  severity: 'warning',
  ...place,
  message: why,
  witness: null,
  because: [],
});

function addConstants(kind: 'routes' | 'groups', entity: Route | Group, found: Constant[]): void {
  const isRoute = kind === 'routes';
  const match = isRoute ? ((entity as Route).match ?? {}) : (entity as Group);
  const add = (pointer: string, value: boolean, why: string): void =>
    void found.push({ place: placeIn(kind, entity, pointer), value, why });
  if (holdsExpressions(entity)) {
    const cel = isRoute ? (entity as Route).match?.cel : undefined;
    const folded = cel === undefined ? undefined : foldCel(cel);
    if (folded !== undefined) add('/match/cel', folded, `the condition is ${folded} for every request`);
    for (const [id, override] of Object.entries(entity.middlewareOverrides ?? {})) {
      for (const field of ['skipWhen', 'onlyWhen'] as const) {
        for (const [place, source] of (override[field] ?? []).entries()) {
          const value = foldCel(source);
          if (value === undefined) continue;
          const pointer = `/middlewareOverrides/${escaped(id)}/${field}/${place}`;
          add(pointer, value, `the condition is ${value} for every request`);
        }
      }
    }
    if (match.pathRegex !== undefined) {
      // Behind a group's prefix a pattern continues a path, and does not begin one.
      const value = ofPattern(match.pathRegex, !isRoute);
      const why = value === true ? 'the pattern matches every path' : 'no canonical path matches the pattern';
      if (value !== undefined) add(`${isRoute ? '/match' : ''}/pathRegex`, value, why);
    }
  }
  if (!isRoute) return;
  for (const field of ['path', 'pathPrefix'] as const) {
    const text = (match as Match)[field];
    const canonical = text === undefined ? undefined : canonicalPath(text);
    if (canonical === undefined || canonical === text) continue;
    add(`/match/${field}`, false, `no request has this path as it is written: its canonical form is "${canonical}"`);
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
