// condition-never and condition-always: conditions that no request, or every request, meets.

import { foldCel } from '../../expression/cel/fold.ts';
import type { FoundPlace } from '../../model/answers/finding-answers.ts';
import { canonicalPath } from '../../model/canonical-path.ts';
import type { Group } from '../../model/group.ts';
import type { Match } from '../../model/match.ts';
import type { Route } from '../../model/route.ts';
import { nameOf, placeIn, placeOf, type RawFinding } from '../finding.ts';
import { exclusionOf } from '../listener-exclusion.ts';
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
    const excluded = exclusionOf(subject, entry);
    if (excluded !== undefined)
      found.push(told({ place: placeOf(entry, excluded.pointer), why: `${nameOf(entry)} ${excluded.why}` }));
  }
  return found;
}

const known = new WeakMap<Subject, readonly Constant[]>();

/** Constant conditions of routes and groups; looked for once, for both rules. */
function* constantsOf(subject: Subject): Generator<void, readonly Constant[]> {
  const before = known.get(subject);
  if (before !== undefined) return before;
  const { routes, groups } = subject.configuration;
  const behindPaths = yield* routesBehindPaths(subject);
  // There a path may come as it was sent.
  const isEnforced = subject.listeners.every(({ pathNormalization }) => pathNormalization !== 'report');
  const found: Constant[] = [];
  for (const [kind, list] of [
    ['routes', routes],
    ['groups', groups],
  ] as const) {
    for (const entity of list) {
      if (subject.isPause() || holdsExpressions(entity)) yield;
      const isBehind = kind === 'routes' && behindPaths.has(entity.id);
      addConstants(kind, entity, { isBehind, isEnforced }, found);
    }
  }
  known.set(subject, found);
  return found;
}

/** Ids of the routes whose paths continue that of a group. */
function* routesBehindPaths(subject: Subject): Generator<void, ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const { pathPrefix = '', pathRegex, routeIds = [] } of subject.configuration.groups) {
    if (subject.isPause()) yield;
    if (pathRegex !== undefined || (pathPrefix !== '' && pathPrefix !== '/')) for (const id of routeIds) ids.add(id);
  }
  return ids;
}

interface PatternPlace {
  /** The pattern continues the path of a group. */
  readonly isBehind: boolean;
  /** Every listener shows canonical paths. */
  readonly isEnforced: boolean;
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

function addConstants(kind: 'routes' | 'groups', entity: Route | Group, place: PatternPlace, found: Constant[]): void {
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
        for (const [at, source] of (override[field] ?? []).entries()) {
          const value = foldCel(source);
          if (value === undefined) continue;
          const pointer = `/middlewareOverrides/${escaped(id)}/${field}/${at}`;
          add(pointer, value, `the condition is ${value} for every request`);
        }
      }
    }
    if (match.pathRegex !== undefined) {
      const value = ofPattern(match.pathRegex, place);
      const why = value === true ? 'the pattern matches every path' : 'no canonical path matches the pattern';
      if (value !== undefined) add(`${isRoute ? '/match' : ''}/pathRegex`, value, why);
    }
  }
  if (!isRoute) {
    if (beginsElsewhere((entity as Group).pathPrefix)) add('/pathPrefix', false, noSlash);
    return;
  }
  for (const field of ['path', 'pathPrefix'] as const) {
    const text = (match as Match)[field];
    if (!place.isBehind && beginsElsewhere(text)) {
      add(`/match/${field}`, false, noSlash);
      continue;
    }
    const canonical = text === undefined ? undefined : canonicalPath(text);
    if (canonical === undefined || canonical === text) continue;
    add(
      `/match/${field}`,
      false,
      `no request has this path as it is written: the canonical form "${canonical}" is matched`,
    );
  }
}

const noSlash = 'no path of a request is without a slash at its beginning';
/** A path that begins with a reference to a secret may begin with a slash. */
const beginsElsewhere = (path = '/'): boolean => path !== '' && !path.startsWith('/') && !path.startsWith('{{');

/** Patterns that match every path, also behind that of a group, which may be all there is. */
const everyRest = new Set(['', '.*', '/?', '/?.*', '^', '^.*', '(.*)', '^(.*)', '^.*$', '^(.*)$', '.*$', '(.*)$']);
/** Patterns that match every path with its slash. */
const everyPath = new Set([
  ...everyRest,
  ...['.+', '/', '/.*', '^/', '^/.*', '^.+', '/(.*)', '^/(.*)', '^/(.*)$', '/.*$', '^/.*$', '/(.*)$', '^.+$'],
]);

/** Undefined: some paths, or unknown. */
function ofPattern(pattern: string, { isBehind, isEnforced }: PatternPlace): boolean | undefined {
  if ((isBehind ? everyRest : everyPath).has(pattern)) return true;
  const start = literalStart(pattern);
  if (start === '') return undefined;
  if (!start.startsWith('/')) return isBehind ? undefined : false;
  const whole = start.slice(0, start.lastIndexOf('/') + 1);
  return !isEnforced || canonicalPath(whole) === whole ? undefined : false;
}

const escaped = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');
