// Difference of two captured configurations: entities, findings, and the routes that it reaches with the reasons.

import type { CapturedDifference } from '../../model/answers/diff-answers.ts';
import type { EntityDifference } from '../../model/answers/entity-difference.ts';
import type { Finding } from '../../model/answers/finding-answers.ts';
import type { Consumer } from '../../model/consumer.ts';
import { differenceOf, type Pair, pairsOf } from '../../model/entity-diff.ts';
import { configKinds, nounOf } from '../../model/kinds.ts';
import { mirrorsOf } from '../../model/mirrors-of.ts';
import { type Configuration, listOf } from '../../model/proxy-config.ts';
import { referencesIn } from '../../model/secret-reference.ts';
import { changedCredentials } from '../../proxy/consumers/changed-credentials.ts';
import { findsAny } from '../../proxy/consumers/consumer-finders.ts';
import { listingOf, scanEntities } from '../../snapshot/listing.ts';
import { referencedIds } from '../../snapshot/referenced-ids.ts';
import type { Captured } from '../../snapshot/staged.ts';
import { Entity, isSame } from '../../state/stored-entity.ts';
import type { Stored } from '../../state/view.ts';
import { inSlices } from '../../util/time-slice.ts';
import { type Find, keptFindings } from '../findings/findings-report.ts';

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

function* pairsBetween(from: Captured | undefined, to: Captured): Generator<Pair> {
  for (const kind of configKinds) yield* pairsOf(kind, from?.entities[kind] ?? [], to.entities[kind], isAlike);
  for (const [text, value] of Object.entries(from?.values ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [reference] = referencesIn(text);
    const now = Object.hasOwn(to.values, text) ? to.values[text] : undefined;
    if (reference?.source !== 'value' || now === undefined || now === value) continue;
    const id = reference.argument;
    const secret = (of: string): Stored => Entity.of(id, 0, { id, name: id, value: of });
    yield { kind: 'secrets', before: secret(value), after: secret(now) };
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
  const reasons = new Map<string, readonly string[]>();
  const note = (kind: string, id: string, name: string, texts: readonly string[]): void =>
    void reasons.set(
      `${kind} ${id}`,
      texts.map((text) => `${nounOf(kind as 'routes')} ${name}: ${text}`),
    );
  for (const { kind, id, name } of created) note(kind, id, name, ['created']);
  for (const { kind, id, name } of deleted) note(kind, id, name, ['deleted']);
  for (const { kind, id, name, changes } of changed)
    note(
      kind,
      id,
      name,
      changes.map(({ pointer }) => pointer || '/'),
    );
  yield* scanEntities(to.entities);
  const written = Object.fromEntries(
    configKinds.map((kind) => [kind, listingOf(kind, to.entities[kind]).specs]),
  ) as unknown as Configuration;
  const groups = new Map<string, Configuration['groups'][number][]>();
  for (const group of written.groups)
    for (const id of group.routeIds ?? []) groups.set(id, [...(groups.get(id) ?? []), group]);
  const services = new Map(
    written.middlewares.map((each) => [each.id, [...referencedIds(each, 'middlewares', 'destinations')]]),
  );
  const former = from?.entities.consumers.map(({ spec }) => spec) ?? [];
  const kinds = yield* changedCredentials(former as unknown as readonly Consumer[], listOf(written, 'consumers'));
  const finders = new Set(written.middlewares.filter(({ type }) => findsAny(type, kinds)).map(({ id }) => id));
  const ofConsumers = [...created, ...changed, ...deleted].filter(({ kind }) => kind === 'consumers');
  const consumerReasons =
    ofConsumers.length > consumersNamedMax
      ? [`consumers: ${ofConsumers.length} created, changed or deleted`]
      : ofConsumers.flatMap(({ id }) => reasons.get(`consumers ${id}`) ?? []);
  const found: CapturedDifference['routes'][number][] = [];
  for (const route of listOf(written, 'routes')) {
    yield;
    const own = groups.get(route.id) ?? [];
    const { forward } = route;
    const reached = forward === undefined ? [] : [...forward.destinations, ...mirrorsOf(forward)];
    const used = [route, ...own].flatMap(({ middlewareIds = [] }) => middlewareIds);
    const keys = new Set([
      `routes ${route.id}`,
      ...own.map(({ id }) => `groups ${id}`),
      ...used.flatMap((id) => [`middlewares ${id}`, ...(services.get(id) ?? []).map((each) => `destinations ${each}`)]),
      ...reached.map(({ destinationId }) => `destinations ${destinationId}`),
      ...[route, ...own].flatMap(({ listenerIds = [] }) => listenerIds.map((id) => `listeners ${id.split('/', 1)[0]}`)),
    ]);
    const consumers = used.some((id) => finders.has(id)) ? consumerReasons : [];
    const why = [...[...keys].flatMap((key) => reasons.get(key) ?? []), ...consumers];
    if (why.length > 0) found.push({ id: route.id, name: route.name, why });
  }
  return found;
}
