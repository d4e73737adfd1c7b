// Commands that change the agreed state, and the results of applying them. All that is not deterministic (ids, times,
// resolved references) is chosen before a command enters the log (architecture.md §8).
import type { RequestId } from '../model/answers/member-messages.ts';
import type { ShadowCounts } from '../model/answers/rollout-answers.ts';
import type { Role } from '../model/api-role.ts';
import type { EditableKind, Kind } from '../model/kinds.ts';
import type { RolloutPlan } from './rollout.ts';
import type { SpecText } from './spec-text.ts';

/** A JSON object as it was sent, J4 and J5 of contract.md §0.2 applied. */
export type Spec = Readonly<Record<string, unknown>>;

/** Revisions named by `If-Match`, or `*`: any, as long as the entity exists. */
export type IfMatch = '*' | readonly number[];

export interface Idempotency {
  /** API key name, path and key, one per line. */
  readonly scope: string;
  /** SHA-256 of the raw body, and of parameters that decide what is done, hex. */
  readonly bodyHash: string;
}

interface Envelope {
  readonly v: 1;
  readonly requestId: RequestId;
  /** Wall clock of the proposing node, Unix ms. Log time is the highest seen so far. */
  readonly time: number;
  readonly idempotency?: Idempotency;
  /**
   * Trace context of its request, as a `traceparent`: the other nodes record its effects in the same trace. Only with
   * activations and rollouts, and only where traces are on. Nothing that is agreed on depends on it.
   */
  readonly trace?: string;
}

export interface Put extends Envelope {
  readonly op: 'put';
  readonly kind: EditableKind;
  readonly id: string;
  readonly mode: 'create' | 'update';
  /** The entity as it will be answered, `id` included. */
  readonly spec: SpecText;
  readonly ifMatch?: IfMatch;
}

export interface Delete extends Envelope {
  readonly op: 'delete';
  readonly kind: Kind;
  readonly id: string;
  readonly ifMatch?: IfMatch;
}

/** Owner and labels of a snapshot. */
export interface Maintained {
  readonly owner?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Captures the configuration of the state that it meets (architecture.md §7.7). */
export interface Capture extends Envelope, Maintained {
  readonly op: 'capture';
  readonly id: string;
  readonly name: string;
  /** RFC 3339 UTC. */
  readonly createdAt: string;
  /** Index of the last configuration change that the compile check saw. Apply answers `moved` when it is not the last. */
  readonly checkedAt: number;
  /** Not the first try: changes that come after this one wait a moment for the next. Apply does not look at it. */
  readonly holdsWrites?: true;
  /** Values of env and file references by their whole text, `{{secret:env:NAME}}`; secret entities come from the state. */
  readonly values: Readonly<Record<string, string>>;
}

/** Author of an activation, and the comment on it. */
export interface AuditInfo {
  /** Name of the API key. */
  readonly by?: string;
  readonly comment?: string;
}

export interface Activate extends Envelope, AuditInfo {
  readonly op: 'activate';
  readonly id: string;
  readonly ifMatch?: IfMatch;
  /** SHA-256 of the canonical JSON of the configuration for proxies. */
  readonly sha256?: string;
  /** Ends a rollout that is under way, instead of being refused for it. */
  readonly force?: true;
  /** Milliseconds after which the previous snapshot becomes active again unless a confirmation comes. */
  readonly confirmWithin?: number;
}

/** Makes live what was live before what is live now. */
export interface Rollback extends Envelope, AuditInfo {
  readonly op: 'rollback';
  /** Id of the request; no entity has it. */
  readonly id: string;
}

/** Keeps what waits for a confirmation. */
export interface Confirm extends Envelope {
  readonly op: 'confirm';
  /** Id of the snapshot. */
  readonly id: string;
}

/** The deadline of an activation has passed: what was live before it is live again. */
export interface Revert extends Envelope {
  readonly op: 'revert';
  /** Id of the snapshot that was not confirmed. */
  readonly id: string;
  /** Index of its activation. */
  readonly activation: number;
}

/** Ends or begins again the flow of new requests to one endpoint. */
export interface DrainEndpoint extends Envelope {
  readonly op: 'drain';
  /** Id of the destination. */
  readonly id: string;
  /** `host:port` */
  readonly endpoint: string;
  readonly drained: boolean;
}

/** Another key of signed session cookies. */
export interface AddCookieKey extends Envelope {
  readonly op: 'cookieKey';
  /** Id of the request; no entity has it. */
  readonly id: string;
  /** 32 random bytes in base64. */
  readonly key: string;
  /** Index of the keys that it was made for; 0: there were none. */
  readonly after: number;
}

/** Another API key of the cluster. */
export interface AddApiKey extends Envelope {
  readonly op: 'apiKey';
  /** Id of the key. */
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the key, hex. */
  readonly digest: string;
  /** Name of the API key that made it. */
  readonly by: string;
}

export interface RevokeApiKey extends Envelope {
  readonly op: 'revokeApiKey';
  /** Id of the key. */
  readonly id: string;
}

/** Begins to give a snapshot to some before all. */
export interface StartRollout extends Envelope, AuditInfo {
  readonly op: 'rollout';
  readonly action: 'start';
  /** Id of the rollout. */
  readonly id: string;
  readonly snapshotId: string;
  readonly plan: RolloutPlan;
  readonly sha256?: string;
}

/** Move of a rollout by an operator. */
export interface MoveRollout extends Envelope, AuditInfo {
  readonly op: 'rollout';
  readonly action: 'pause' | 'resume' | 'abort' | 'promote';
  readonly id: string;
  /** With `promote`: go to the end, not to the next step. */
  readonly finish?: true;
}

/** Conclusion of the leader from its measurements. */
export interface DriveRollout extends Envelope {
  readonly op: 'rollout';
  readonly action: 'advance' | 'fail' | 'stall';
  readonly id: string;
  /** Epoch of the step that was measured. */
  readonly epoch: number;
  /** Cause of `fail`. */
  readonly because?: 'guard failed' | 'refused';
  /** The guard that was false. */
  readonly guard?: string;
  /** Measured values. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Counts of a shadow step that it ends. */
  readonly shadow?: ShadowCounts;
}

export type RolloutCommand = StartRollout | MoveRollout | DriveRollout;

/** One write of a batch. Which entity is meant is decided in apply. */
export interface BatchOperation {
  readonly op: 'create' | 'update' | 'upsert' | 'delete';
  readonly kind: EditableKind;
  readonly by: 'id' | 'name';
  /** By id: the entity. By name: the id of a new one; absent where none can come to be. */
  readonly id?: string;
  /** Name of the entity, for a delete by name. */
  readonly name?: string;
  /** As it will be answered, without `id`. Absent for a delete. */
  readonly spec?: SpecText;
  readonly ifMatch?: IfMatch;
  /** A delete that finds nothing is no failure. */
  readonly missingOk?: true;
}

/** In order; undefined stands for what is no operation. */
export interface Operations extends Iterable<BatchOperation | undefined> {
  readonly count: number;
  /** As the log carries them: a line of JSON for each, or compressed blocks of such lines. */
  readonly bytes: Uint8Array;
}

/** Many writes at one index, all of them or none. */
export interface Batch extends Envelope {
  readonly op: 'batch';
  /** Id of the batch; no entity has it. */
  readonly id: string;
  readonly operations: Operations;
  /** Owner in whose name it writes: of entities that have none. */
  readonly owner?: string;
  /** Kinds of which everything is deleted that the owner has and no operation names. */
  readonly prune?: readonly EditableKind[];
  /** Last change of the staged state that it was made for. */
  readonly ifMatch?: IfMatch;
  /** Taken of the state after the operations. */
  readonly snapshot?: BatchSnapshot;
}

/** Writes of a batch, without the snapshot of them. */
export type BatchWrites = Pick<Batch, 'operations' | 'owner' | 'prune' | 'ifMatch'>;

export interface BatchSnapshot
  extends AuditInfo,
    Pick<Capture, 'id' | 'name' | 'owner' | 'labels' | 'createdAt' | 'checkedAt' | 'holdsWrites' | 'values'> {
  /** SHA-256 of the canonical JSON of the configuration for proxies. */
  readonly sha256?: string;
  /** Live from the same index on. */
  readonly activate: boolean;
  /** Index of the activation that it builds on, 0 where nothing was active. Absent: it takes what is staged. */
  readonly base?: number;
  /** Number of snapshots of the batch's owner that stay, this one included. */
  readonly keep?: number;
}

/** Brings what is staged back to what is live: all of it, or one of the choices. */
export interface Discard extends Envelope {
  readonly op: 'discard';
  /** Id of the request; no entity has it. */
  readonly id: string;
  /** Edits of what this owner has, live or staged. */
  readonly owner?: string;
  readonly entities?: readonly EntityName[];
  /** Last change of the staged state that it was made for. */
  readonly ifMatch?: IfMatch;
}

export type Command =
  | Put
  | Delete
  | Capture
  | Activate
  | Rollback
  | Confirm
  | Revert
  | RolloutCommand
  | Batch
  | Discard
  | DrainEndpoint
  | AddCookieKey
  | AddApiKey
  | RevokeApiKey;

/** A command without what the log's client adds: request id, time and trace. */
export type Draft = DistributiveOmit<Command, 'v' | 'requestId' | 'time' | 'trace'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** Fields that an update took over from the entity as it was; empty when it brought its own, or there are none. */
export interface KeptFields {
  readonly owner?: string;
  readonly labels?: Spec;
}

export type EntityName = readonly [kind: EditableKind, id: string];

/**
 * Id, revision after it (0: there is none), whether anything was written (1) or not (0), and the owner whose entity was
 * changed by another writer.
 */
export type BatchOutcome = readonly [id: string, revision: number, changed: 0 | 1, owner?: string];

/** Outcome of a large batch, in place of one for each operation. */
export interface OutcomeSum {
  readonly changed: number;
  /** Ids of the first ones that were changed. */
  readonly ids: readonly string[];
  /** The first entities that another writer than their owner changed. */
  readonly owned: readonly (readonly [kind: EditableKind, id: string, owner: string])[];
}

/** Result of applying a command; refusals are results too and are kept for retries. */
export interface Result {
  /** Log index at which this was decided. For a retry: of the first time. */
  readonly index: number;
  /** 201 created, 200 changed, 204 deleted, or the status of the refusal. 400: not a command. `moved`: capture again. */
  readonly status: 200 | 201 | 204 | 400 | 404 | 409 | 412 | 422 | 'moved';
  readonly kind: Kind;
  readonly id: string;
  /** Why it was refused. */
  readonly error?: string;
  /** Number of the first operation that failed, for a refused batch. Absent when its snapshot was refused. */
  readonly operation?: number;
  /** Entities whose unfinished edits were discarded. */
  readonly discarded?: readonly EntityName[];
  /** Last change of the staged state: after a batch that took effect, or as it is for one that was made for another. */
  readonly staged?: number;
  /** Fields that an update left out and that stayed as they were. */
  readonly kept?: KeptFields;
  /** Owner of the entity that was changed, where the write did not name that owner. */
  readonly formerOwner?: string;
  /** Outcomes of a batch that took effect: one for each operation. */
  readonly outcomes?: readonly BatchOutcome[];
  /** Outcome of a large batch that took effect. */
  readonly sum?: OutcomeSum;
  /** Entities that a batch pruned. Absent when it was not to prune. */
  readonly pruned?: readonly EntityName[];
  /** Present when an Idempotency-Key was replayed: the entity as created, if it was small enough to keep. */
  readonly replay?: { readonly spec?: Spec };
}
