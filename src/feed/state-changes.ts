// Changes of the state as callers follow them (contract.md §3.6): names and ids, never content. The last ones are kept, so
// that a caller whose stream broke can resume at another node too: their ids are indexes of the log.
import type { Applied } from '../state/config-state.ts';
import type { StateView, StoredSnapshot } from '../state/view.ts';

type ChangeName = 'staged' | 'snapshots' | 'active' | 'rollout' | 'drains' | 'members' | 'fleet';

export interface StateChange {
  readonly name: ChangeName;
  /** Log index of the change; of members and fleet, which are not in the log, the last applied one. */
  readonly index: number;
  /** JSON. */
  readonly data: string;
}

/** News of one round of applied commands. */
interface RoundNews {
  readonly last: number;
  readonly results: readonly Applied[];
}

export interface ChangeSubscriber {
  /** Changes of one index, at least one. */
  changed(changes: readonly StateChange[]): void;
  /** The state is another one: changes were skipped. */
  reset(index: number): void;
}

const keptMax = 1_000;
/** Ids that one event names. */
const idsMax = 100;

/** Returns the changes of a state that rounds of its log bring. */
export function changesOf(
  view: StateView,
  log: { onRound(subscriber: (news: RoundNews | 'adopted') => void): unknown },
): StateChanges {
  const changes = new StateChanges(view);
  log.onRound((news) => (news === 'adopted' ? changes.adopted() : changes.take(news)));
  return changes;
}

/** Parts of the view, immutable values each: another object is a change. */
interface Seen extends Pick<StateView, 'changedAt' | 'active' | 'pending' | 'rollouts' | 'drains'> {
  readonly snapshots: readonly StoredSnapshot[];
}

export class StateChanges {
  readonly #view: StateView;
  readonly #kept: StateChange[] = [];
  readonly #subscribers = new Set<ChangeSubscriber>();
  /** Every change after this index is kept. */
  #completeAfter: number;
  #seen: Seen;

  constructor(view: StateView) {
    this.#view = view;
    this.#completeAfter = view.applied;
    this.#seen = seenOf(view);
  }

  get applied(): number {
    return this.#view.applied;
  }

  subscribe(subscriber: ChangeSubscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Returns the kept changes after an index; undefined where not all of them are here. */
  after(index: number): readonly StateChange[] | undefined {
    if (index < this.#completeAfter || index > this.#view.applied) return undefined;
    return this.#kept.filter((change) => change.index > index);
  }

  /** Takes a round that the view shows already. */
  take({ last, results }: RoundNews): void {
    const before = this.#seen;
    this.#seen = seenOf(this.#view);
    const changes = [
      ...stagedChanges(results, before.changedAt, this.#view),
      ...snapshotChanges(before.snapshots, this.#view, last),
      ...this.#liveChanges(before, last),
    ];
    if (changes.length > 0) this.#publish(changes.sort((a, b) => a.index - b.index));
  }

  /** The view was replaced as a whole. */
  adopted(): void {
    this.#seen = seenOf(this.#view);
    this.#kept.length = 0;
    this.#completeAfter = this.#view.applied;
    for (const subscriber of [...this.#subscribers]) subscriber.reset(this.#completeAfter);
  }

  /** Reports a change that is not in the log. */
  outside(name: 'members' | 'fleet'): void {
    this.#publish([this.outsideChange(name)]);
  }

  outsideChange(name: 'members' | 'fleet'): StateChange {
    const index = this.#view.applied;
    return { name, index, data: JSON.stringify({ index }) };
  }

  #liveChanges(before: Seen, last: number): StateChange[] {
    const { active, pending, rollouts } = this.#view;
    const changes: StateChange[] = [];
    if (active?.index !== before.active?.index || pending !== before.pending) {
      const index = active !== undefined && active.index !== before.active?.index ? active.index : last;
      changes.push(changeOf('active', index, { snapshotId: active?.snapshotId ?? null }));
    }
    const rollout = rollouts.at(-1);
    if (rollouts !== before.rollouts && rollout !== undefined) {
      const { id, snapshotId, state, step } = rollout;
      changes.push(changeOf('rollout', last, { rolloutId: id, snapshotId, state, step }));
    }
    const { drains } = this.#view;
    if (drains !== before.drains) changes.push(changeOf('drains', drains.index, {}));
    return changes;
  }

  #publish(changes: readonly StateChange[]): void {
    for (const change of changes) {
      if (change.name !== 'members' && change.name !== 'fleet') this.#kept.push(change);
    }
    while (this.#kept.length > keptMax) this.#completeAfter = this.#kept.shift()?.index ?? this.#completeAfter;
    for (let at = 0; at < changes.length; ) {
      const first = changes[at];
      const same = changes.slice(at).filter(({ index }) => index === first?.index);
      at += same.length;
      for (const subscriber of [...this.#subscribers]) subscriber.changed(same);
    }
  }
}

const seenOf = (view: StateView): Seen => ({
  changedAt: view.changedAt,
  active: view.active,
  pending: view.pending,
  rollouts: view.rollouts,
  drains: view.drains,
  snapshots: view.snapshots(),
});

function changeOf(name: ChangeName, index: number, about: object): StateChange {
  return { name, index, data: JSON.stringify({ index, ...about }) };
}

/** Results that took effect at their index. */
const effective = ({ index, result }: Applied): boolean =>
  result.index === index && (result.status === 200 || result.status === 201 || result.status === 204);

function stagedChanges(results: readonly Applied[], changedBefore: number, view: StateView): StateChange[] {
  if (view.changedAt === changedBefore) return [];
  const changes = results.filter(effective).flatMap(({ index, result }): StateChange[] => {
    if (result.outcomes !== undefined) {
      const ids = result.outcomes.filter(([, , changed]) => changed === 1).map(([id]) => id);
      return ids.length === 0 ? [] : [changeOf('staged', index, named(ids))];
    }
    const { kind, id, sum } = result;
    if (sum !== undefined) return sum.changed === 0 ? [] : [changeOf('staged', index, named(sum.ids, sum.changed))];
    if (kind === 'snapshots') return [];
    return [changeOf('staged', index, { kind, ids: [id], ...(result.status === 204 && { deleted: true }) })];
  });
  // A change whose result names nothing is a change all the same.
  return changes.length > 0 ? changes : [changeOf('staged', view.changedAt, { ids: [] })];
}

function snapshotChanges(before: readonly StoredSnapshot[], view: StateView, last: number): StateChange[] {
  const now = view.snapshots();
  if (now === before) return [];
  const known = new Set(before);
  const left = new Set(now);
  const made = now.filter((snapshot) => !known.has(snapshot));
  const gone = before.filter((snapshot) => !left.has(snapshot)).map(({ id }) => id);
  return [
    ...made.map(({ id, revision }) => changeOf('snapshots', revision, { ids: [id] })),
    ...(gone.length > 0 ? [changeOf('snapshots', last, named(gone))] : []),
  ];
}

const named = (ids: readonly string[], count = ids.length): object =>
  count <= idsMax ? { ids } : { ids: ids.slice(0, idsMax), more: count - idsMax };
