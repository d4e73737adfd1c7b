// View, the reading side of the agreed state. It shows only what is on disk (architecture.md §7.3).
import type { ActivationRecord } from '../model/answers/activation-record.ts';
import type { CookieKeys } from '../model/cookie-keys.ts';
import type { Drains } from '../model/drained-endpoint.ts';
import type { Pair } from '../model/entity-diff.ts';
import type { ConfigKind, EditableKind, Kind } from '../model/kinds.ts';
import type { ManagedKeys } from '../model/managed-keys.ts';
import type { BatchSnapshot, BatchWrites, Idempotency, Maintained, Result, Spec } from './command.ts';
import type { PendingConfirmation } from './history.ts';
import type { Rollout } from './rollout.ts';

/** One resource as it is kept. Immutable; a change makes a new one. */
export interface Stored {
  readonly id: string;
  readonly name: string;
  /** Team or program that maintains it. */
  readonly owner: string | undefined;
  /** Log index of its last change; the `ETag`. */
  readonly revision: number;
  readonly spec: Spec;
  /** `JSON.stringify(spec)`, kept because lists of thousands are answered from it. */
  readonly json: string;
  /** Some string in it may hold a reference to a secret. */
  readonly holdsReferences: boolean;
  /** Log time at which the value of a secret was set, Unix ms; undefined for other kinds, and where it was not noted. */
  readonly changedAt?: number | undefined;
  /** RFC 8785 text of `spec`. */
  readonly canonical: string;
}

/** A captured configuration: text with its references, and the values they had, apart (architecture.md §6.12). */
export interface StoredSnapshot extends Maintained {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  /** RFC 3339 UTC. */
  readonly createdAt: string;
  /** Ascending by id. Shares the entities with the state that was captured. */
  readonly entities: Readonly<Record<ConfigKind, readonly Stored[]>>;
  /** Value of every reference in it, by the reference's whole text. */
  readonly values: Readonly<Record<string, string>>;
}

/** Active snapshot and the log index of its activation. */
export interface Active {
  readonly snapshotId: string;
  readonly index: number;
}

/** Fields of a snapshot of a batch before it is captured. */
export interface WantedSnapshot extends Pick<BatchSnapshot, 'id' | 'name' | 'activate'> {
  /** True: the snapshot builds on what is live. */
  readonly isOnLive: boolean;
}

/** Effect of operations on the present state, without executing them. */
export interface Rehearsal {
  /** As of a batch; status 200 when nothing would be refused. */
  readonly verdict: Pick<Result, 'status' | 'error' | 'operation' | 'outcomes' | 'pruned' | 'staged'>;
  /** Entities that they name or prune, before and after. */
  readonly pairs: readonly Pair<EditableKind>[];
  /** Reason for which their snapshot would be refused before its checks; undefined when they bring none. */
  readonly refused: Pick<Result, 'status' | 'error'> | undefined;
  /** Index of the activation that the snapshot would build on; 0 where nothing is active. */
  readonly base: number;
  /** The configuration after them, as their snapshot would have it. `changedAt` is that of the state before. */
  readonly after: {
    readonly changedAt: number;
    /** Values of references that stay in force, by the whole text. */
    readonly inForce: Readonly<Record<string, string>>;
    readonly entities: StoredSnapshot['entities'];
    readonly secrets: readonly Stored[];
  };
}

export interface StateView {
  /** Index of the last applied command. */
  readonly applied: number;
  /** Index of the last command that changed a configuration kind or a secret. */
  readonly changedAt: number;
  /** State hash over plaintext, 16 hex digits; equal on all nodes at equal `applied`. */
  readonly hash: string;
  readonly active: Active | undefined;
  /** Ascending by index; the last 10,000. */
  readonly activations: readonly ActivationRecord[];
  readonly pending: PendingConfirmation | undefined;
  /** By the time at which they were started. At most the last one is under way. */
  readonly rollouts: readonly Rollout[];
  readonly drains: Drains;
  /** Keys of signed session cookies. */
  readonly cookieKeys: CookieKeys;
  /** API keys of the cluster. */
  readonly managedKeys: ManagedKeys;
  get(kind: EditableKind, id: string): Stored | undefined;
  /** Ascending by id, byte order. */
  list(kind: EditableKind): readonly Stored[];
  snapshot(id: string): StoredSnapshot | undefined;
  /** Ascending by createdAt, then id. */
  snapshots(): readonly StoredSnapshot[];
  /** Yields wherever others may have their turn. To be thrown away when `changedAt` or `active` is another one at the end. */
  rehearse(writes: BatchWrites, snapshot?: WantedSnapshot): Generator<void, Rehearsal>;
  /** Returns the earlier answer to a request under this key; undefined when it is new. */
  answered(idempotency: Idempotency): Result | undefined;
  /** Revision of any entity, or undefined when it does not exist. */
  revision(kind: Kind, id: string): number | undefined;
}
