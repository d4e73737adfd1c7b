// Difference of two lists of consumers, by the kind of the credentials that name them.
import { isDeepStrictEqual } from 'node:util';
import type { Consumer } from '../../model/consumer.ts';
import { ShardedMap } from '../../util/sharded-map.ts';
import type { CredentialKind } from './consumer-finders.ts';

/** Consumers between two pauses. */
const stride = 64;

/** Returns the kinds of credentials that name another consumer in one list than in the other, or none. */
export function* changedCredentials(
  before: readonly Consumer[],
  after: readonly Consumer[],
): Generator<void, ReadonlySet<CredentialKind>> {
  const changed = new Set<CredentialKind>();
  if (before === after) return changed;
  const left = new ShardedMap<Consumer>();
  for (const [place, consumer] of before.entries()) {
    left.set(consumer.id, consumer);
    if (place % stride === 0) yield;
  }
  for (const [place, consumer] of after.entries()) {
    const former = left.get(consumer.id);
    left.delete(consumer.id);
    for (const kind of kindsBetween(former, consumer)) changed.add(kind);
    if (place % stride === 0) yield;
  }
  let place = 0;
  for (const consumer of left.values()) {
    for (const kind of kindsBetween(consumer, undefined)) changed.add(kind);
    if (place++ % stride === 0) yield;
  }
  return changed;
}

function kindsBetween(one: Consumer | undefined, other: Consumer | undefined): readonly CredentialKind[] {
  const all = [...(one?.credentials ?? []), ...(other?.credentials ?? [])].map(({ type }) => type);
  if (!isDeepStrictEqual(factsOf(one), factsOf(other))) return all;
  const ofKind = (consumer: Consumer | undefined, kind: CredentialKind) =>
    consumer?.credentials?.filter(({ type }) => type === kind);
  return all.filter((kind) => !isDeepStrictEqual(ofKind(one, kind), ofKind(other, kind)));
}

/** Parts of a consumer that expressions and templates read. */
const factsOf = (consumer: Consumer | undefined): unknown =>
  consumer && [consumer.id, consumer.name, consumer.labels ?? {}];
