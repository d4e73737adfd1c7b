// Configuration that a proxy runs, from what was agreed on: entities and values joined, references gone (contract.md
// §2.9).

import { type ConfigKind, configKinds, perKind } from '../model/kinds.ts';
import { pointerOf } from '../model/problem.ts';
import type { Candidate, Configuration, ProxyConfig } from '../model/proxy-config.ts';
import { findReferences, replaceReferences } from '../model/secret-reference.ts';
import { withStoredKeys } from '../model/stored-api-key.ts';
import type { Spec } from '../state/command.ts';
import { isShadow, isUnderWay } from '../state/rollout.ts';
import type { StateView, Stored, StoredSnapshot } from '../state/view.ts';
import { listingOf } from './listing.ts';
import type { Captured } from './staged.ts';

/**
 * Returns the configuration of proxies when `snapshot` was activated at log index `index`. `sha256`: its digest, where
 * it is known.
 */
export const proxyConfigOf = (snapshot: StoredSnapshot, index: number, sha256?: string | null): ProxyConfig => ({
  index,
  id: snapshot.id,
  name: snapshot.name,
  createdAt: snapshot.createdAt,
  snapshot: configurationOf(snapshot),
  textOf: (kind, place) => {
    const entity = snapshot.entities[kind][place];
    return entity === undefined || entity.holdsReferences ? undefined : entity.json;
  },
  secrets: secretsOf(snapshot),
  ...(sha256 != null && { sha256 }),
});

/** Returns the pointers to values of secrets in the configuration: `/snapshot/routes/0/…`. */
export function secretsOf({ entities }: Captured): string[] {
  const placed = new Set<string>();
  for (const kind of configKinds) {
    for (const [at, { spec }] of listingOf(kind, entities[kind]).holders) {
      for (const { source, valuePointer } of findReferences(spec))
        if (source !== 'body') placed.add(pointerOf('snapshot', kind, at) + valuePointer);
    }
  }
  return [...placed];
}

/** Returns the candidate that proxies try now; undefined when no rollout is under way. @public */
export function candidateOf(view: Pick<StateView, 'rollouts' | 'snapshot'>): Candidate | undefined {
  const rollout = view.rollouts.find(isUnderWay);
  const snapshot = rollout && view.snapshot(rollout.snapshotId);
  if (rollout === undefined || snapshot === undefined) return undefined;
  const { id, epoch, startedAt, plan, step } = rollout;
  // Steps add up: what a step gave to a proxy or a client, a later one does not take away.
  const begun = plan.steps.slice(0, step + 1);
  const labels = begun.flatMap((each) => ('labels' in each ? [each.labels] : []));
  const share = Math.max(0, ...begun.map((each) => ('share' in each ? each.share : 0)));
  return {
    rollout: id,
    index: epoch,
    since: startedAt,
    share,
    ...(isShadow(plan.steps[step]) && { shadowSample: plan.shadowSample ?? 1 }),
    ...(labels.length > 0 && { labels }),
    by: plan.by,
    key: plan.key,
    deadmanMs: plan.deadmanMs,
    config: proxyConfigOf(snapshot, epoch, rollout.sha256),
  };
}

/** Entities without references are the stored objects themselves, not copies. */
export const configurationOf = ({ entities, values }: Captured): Configuration =>
  asConfiguration(
    perKind((kind) => {
      const { specs, holders } = listingOf(kind, entities[kind]);
      if (holders.size === 0) return specs;
      const resolved = specs.slice();
      for (const [at, entity] of holders) resolved[at] = resolvedSpec(entity, values);
      return resolved;
    }),
  );

/** Only validated entities reach the state, so a stored one has the type of its kind; this cast states it. */
const asConfiguration = (lists: Readonly<Record<ConfigKind, unknown>>): Configuration => lists as Configuration;

/** The entity with every reference replaced that has a value. Keys of consumers are hashed: no proxy gets one. */
export function resolvedSpec(entity: Stored, values: Captured['values']): Spec {
  if (!entity.holdsReferences) return entity.spec;
  const resolved = replaceReferences(entity.spec, ({ text }) =>
    Object.hasOwn(values, text) ? values[text] : undefined,
  );
  return withStoredKeys(resolved as Spec);
}
