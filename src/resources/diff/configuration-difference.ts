// Difference of two captured configurations: entities, findings, and the routes that it reaches with the reasons.

import type { CapturedDifference } from '../../model/answers/diff-answers.ts';
import type { EntityDifference } from '../../model/answers/entity-difference.ts';
import type { Finding } from '../../model/answers/finding-answers.ts';
import type { Consumer } from '../../model/consumer.ts';
import { differenceOf, type Pair, pairsOf } from '../../model/entity-diff.ts';
import { type ConfigKind, configKinds, nounOf } from '../../model/kinds.ts';
import { mirrorsOf } from '../../model/mirrors-of.ts';
import { type Configuration, listOf } from '../../model/proxy-config.ts';
import { changedCredentials } from '../../proxy/consumers/changed-credentials.ts';
import { findsAny } from '../../proxy/consumers/consumer-finders.ts';
import { listingOf, scanEntities } from '../../snapshot/listing.ts';
import { referencedIds } from '../../snapshot/referenced-ids.ts';
import type { Captured } from '../../snapshot/staged.ts';
import { Entity, isSame } from '../../state/stored-entity.ts';
import type { Stored } from '../../state/view.ts';
import { ShardedMap } from '../../util/sharded-map.ts';
import { inSlices } from '../../util/time-slice.ts';
import { type Find, keptFindings } from '../findings/findings-report.ts';
import { changedValues, holdersOf } from './changed-values.ts';

/** `from` undefined: nothing was there, and everything is created. Values of secrets are `***`. */
export async function configurationDifference(
  find: Find,
  from: Captured | undefined,
  to: Captured,
): Promise<CapturedDifference> {
  const entities = await inSlices(differenceOf(pairsBetween(from, to)));
  const before = from === undefined ? [] : await keptFindings(find, from);
  const after = await keptFindings(find, to);
  const findings = { new: without(after, before), gone: without(before, after) };
  return { entities, findings, routes: await inSlices(routesReached(from, to, entities)) };
}

function* pairsBetween(from: Captured | undefined, to: Captured): Generator<Pair | undefined> {
  for (const kind of configKinds) yield* pairsInParts(kind, from?.entities[kind] ?? [], to.entities[kind]);
  for (const { reference, before, now } of changedValues(from, to)) {
    if (reference.source !== 'value') continue;
    const id = reference.argument;
    const secret = (of: string): Stored => Entity.of(id, 0, { id, name: id, value: of });
    yield { kind: 'secrets', before: secret(before), after: secret(now) };
  }
}

/** Entities that are paired between two pauses: nearly all are alike, and make no pair. */
const pairedAtOnce = 512;

/** Undefined between two parts of the lists. */
function* pairsInParts(kind: ConfigKind, from: readonly Stored[], to: readonly Stored[]): Generator<Pair | undefined> {
  let begin = 0;
  for (let at = 0; at < Math.max(1, to.length); at += pairedAtOnce) {
    const next = to[at + pairedAtOnce];
    let end = next === undefined ? from.length : begin;
    for (let old = from[end]; next !== undefined && old !== undefined && old.id < next.id; old = from[++end]);
    yield* pairsOf(kind, from.slice(begin, end), to.slice(at, at + pairedAtOnce), isAlike);
    yield undefined;
    begin = end;
  }
}

const isAlike = (one: Stored, other: Stored): boolean => one === other || isSame(one, other);

function without(findings: readonly Finding[], others: readonly Finding[]): readonly Finding[] {
  const keyOf = ({ rule, kind, id, pointer }: Finding): string => JSON.stringify([rule, kind, id, pointer]);
  const known = new Set(others.map(keyOf));
  return findings.filter((each) => !known.has(keyOf(each)));
}

/** Consumers that are named for a route whose middlewares tell them apart; of more their number is told. */
const consumersNamedMax = 10;

/** Routes that changed, or that name what changed. */
function* routesReached(
  from: Captured | undefined,
  to: Captured,
  { created, changed, deleted }: EntityDifference,
): Generator<void, CapturedDifference['routes']> {
  const reasons = new Reasons();
  for (const { kind, id, name } of created) reasons.note(kind, id, name, ['created']);
  for (const { kind, id, name } of deleted) reasons.note(kind, id, name, ['deleted']);
  for (const { kind, id, name, changes } of changed)
    reasons.note(
      kind,
      id,
      name,
      changes.map(({ pointer }) => pointer || '/'),
    );
  yield* scanEntities(to.entities);
  for (const holder of yield* holdersOf(changedValues(from, to), to))
    reasons.add(holder.kind, holder.id, holder.reasons);
  const written = Object.fromEntries(
    configKinds.map((kind) => [kind, listingOf(kind, to.entities[kind]).specs]),
  ) as unknown as Configuration;
  const services = new Map<string, readonly string[]>();
  for (const each of written.middlewares) {
    services.set(each.id, [...referencedIds(each, 'middlewares', 'destinations')]);
    if (services.size % stride === 0) yield;
  }
  if (from !== undefined) yield* scanEntities(from.entities);
  const former = from === undefined ? [] : listingOf('consumers', from.entities.consumers).specs;
  const kinds = yield* changedCredentials(former as unknown as readonly Consumer[], listOf(written, 'consumers'));
  const finders = new Set(written.middlewares.filter(({ type }) => findsAny(type, kinds)).map(({ id }) => id));
  const ofConsumers = [...created, ...changed, ...deleted].filter(({ kind }) => kind === 'consumers');
  const consumerReasons =
    ofConsumers.length > consumersNamedMax
      ? [`consumers: ${ofConsumers.length} created, changed or deleted`]
      : ofConsumers.flatMap(({ id }) => reasons.of('consumers', id));
  const groups = yield* groupsByRoute(written.groups);
  const reachesOthers = reasons.reachOthers || consumerReasons.length > 0;
  const found: CapturedDifference['routes'][number][] = [];
  for (const [at, route] of listOf(written, 'routes').entries()) {
    if (at % stride === 0) yield;
    // Nothing that a route names has changed, in most differences.
    if (!reachesOthers && !reasons.has('routes', route.id)) continue;
    const own = groups.get(route.id) ?? none;
    const { forward } = route;
    const reached = forward === undefined ? [] : [...forward.destinations, ...mirrorsOf(forward)];
    const used = [route, ...own].flatMap(({ middlewareIds = [] }) => middlewareIds);
    const keys = new Set([
      keyOf('routes', route.id),
      ...own.map(({ id }) => keyOf('groups', id)),
      ...used.flatMap((id) => [
        keyOf('middlewares', id),
        ...(services.get(id) ?? []).map((each) => keyOf('destinations', each)),
      ]),
      ...reached.map(({ destinationId = '' }) => keyOf('destinations', destinationId)),
      ...[route, ...own].flatMap(({ listenerIds = [] }) =>
        listenerIds.map((id) => keyOf('listeners', id.split('/', 1)[0] ?? '')),
      ),
    ]);
    const consumers = used.some((id) => finders.has(id)) ? consumerReasons : [];
    const why = [...[...keys].flatMap((key) => reasons.at(key)), ...consumers];
    if (why.length > 0) found.push({ id: route.id, name: route.name, why });
  }
  return found;
}

/** Routes between two pauses. */
const stride = 32;
const none: readonly Configuration['groups'][number][] = [];

function* groupsByRoute(
  groups: Configuration['groups'],
): Generator<void, Pick<ShardedMap<Configuration['groups'][number][]>, 'get'>> {
  const byRoute = new ShardedMap<Configuration['groups'][number][]>();
  let count = 0;
  for (const group of groups) {
    for (const id of group.routeIds ?? []) {
      const known = byRoute.get(id);
      if (known === undefined) byRoute.set(id, [group]);
      else known.push(group);
      if (++count % stride === 0) yield;
    }
  }
  return byRoute;
}

const keyOf = (kind: string, id: string): string => `${kind} ${id}`;
const nothing: readonly string[] = [];

/** Reasons for which a route is reached, by what has changed. */
class Reasons {
  readonly #texts = new Map<string, readonly string[]>();
  /** True where other kinds than routes have changed, which routes name. */
  reachOthers = false;

  note(kind: string, id: string, name: string, texts: readonly string[]): void {
    const noun = nounOf(kind as 'routes');
    this.add(
      kind,
      id,
      texts.map((text) => `${noun} ${name}: ${text}`),
    );
  }

  /** Adds reasons that are told as they are. */
  add(kind: string, id: string, texts: readonly string[]): void {
    if (kind !== 'routes') this.reachOthers = true;
    const key = keyOf(kind, id);
    this.#texts.set(key, [...this.at(key), ...texts]);
  }

  has(kind: string, id: string): boolean {
    return this.#texts.size > 0 && this.#texts.has(keyOf(kind, id));
  }

  of(kind: string, id: string): readonly string[] {
    return this.at(keyOf(kind, id));
  }

  at(key: string): readonly string[] {
    return this.#texts.get(key) ?? nothing;
  }
}
