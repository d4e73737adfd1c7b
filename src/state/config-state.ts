// State machine: what the cluster agreed on, and the only place that changes it. Deterministic: the same commands at
// the same indexes give the same state, results and hash on every node (raft.md A17). A round is computed beside the
// visible state, written by its caller, and only then shown with `commit`.

import type { ActivationRecord } from '../model/answers/activation-record.ts';
import type { RequestId } from '../model/answers/member-messages.ts';
import type { CookieKeys } from '../model/cookie-keys.ts';
import type { Drains } from '../model/drained-endpoint.ts';
import { type EditableKind, type Kind } from '../model/kinds.ts';
import type { ManagedKeys } from '../model/managed-keys.ts';
import { drain } from '../util/time-slice.ts';
import type { BatchWrites, Command, Idempotency, Result } from './command.ts';
import type { Malformed } from './command-codec.ts';
import { decide, kindOf } from './decide.ts';
import { writeAll } from './decide-batch.ts';
import type { PendingConfirmation } from './history.ts';
import { type IdempotencyLimits, IdempotencyTable } from './idempotency-table.ts';
import { liveContent, withTouched } from './live-base.ts';
import { loadRows, type StoredRow } from './load-rows.ts';
import { emptyTables, type LogStamp, nothingLive, Overlay, type Position, settle, type Tables } from './overlay.ts';
import { snapshotRefused } from './refusals.ts';
import { type RequestStanding, RequestTable } from './request-table.ts';
import type { Rollout } from './rollout.ts';
import { keys } from './row-keys.ts';
import { plainDigests, type RowBody, type RowDigests, StateHash } from './state-hash.ts';
import type { Active, Rehearsal, StateView, Stored, StoredSnapshot, WantedSnapshot } from './view.ts';

export interface DecodedEntry {
  readonly index: number;
  readonly command: Command | Malformed;
}

export interface Applied {
  readonly index: number;
  /** Undefined when the bytes were no command at all; then no caller waits for it. */
  readonly requestId: RequestId | undefined;
  readonly result: Result;
  /** Trace context of the command; absent when it was applied before. */
  readonly trace?: string;
}

/** Row to write, or to delete when `body` is missing. Plain: the writer seals it. */
export interface Row {
  readonly key: string;
  readonly index: number;
  readonly body: RowBody | undefined;
  /** No row had this key before. */
  readonly isNew: boolean;
  readonly digest: bigint;
}

export interface Activation {
  readonly index: number;
  readonly snapshot: StoredSnapshot;
}

export interface Round {
  readonly applied: number;
  readonly hash: string;
  readonly results: readonly Applied[];
  readonly rows: readonly Row[];
  /** Last activation of the round; earlier ones were overtaken before they could be seen. */
  readonly activation: Activation | undefined;
  /** A rollout began, changed or ended. */
  readonly changesRollout: boolean;
  /** Shows the round to readers. To be called once, when its rows are on disk. */
  commit(): void;
}

export interface ConfigStateOptions {
  readonly digests?: RowDigests;
  readonly idempotencyLimits?: IdempotencyLimits;
}

export class ConfigState implements StateView {
  readonly #tables: Tables = emptyTables();
  readonly #requests = new RequestTable();
  readonly #idempotency: IdempotencyTable;
  readonly #hash: StateHash;
  #position: Position = { applied: 0, changedAt: 0, logTime: 0 };
  #live = nothingLive;
  #shownHash: string;

  constructor({ digests = plainDigests, idempotencyLimits }: ConfigStateOptions = {}) {
    this.#idempotency = new IdempotencyTable(idempotencyLimits);
    this.#hash = new StateHash(digests);
    this.#shownHash = this.#hash.text;
  }

  /** A state from its rows, or what is wrong with them. The rows were checked one by one before. */
  static load(rows: readonly StoredRow[], options: ConfigStateOptions = {}): ConfigState | string {
    return drain(ConfigState.loadInSteps(rows, options));
  }

  /** The same with a pause wherever others may have their turn. */
  static *loadInSteps(
    rows: readonly StoredRow[],
    options: ConfigStateOptions = {},
  ): Generator<void, ConfigState | string> {
    const state = new ConfigState(options);
    return (yield* state.#load(rows)) ?? state;
  }

  get applied(): number {
    return this.#position.applied;
  }

  /** The log's entry at `applied`; undefined for a state of a time before the log. */
  get entry(): LogStamp | undefined {
    return this.#position.entry;
  }

  get changedAt(): number {
    return this.#position.changedAt;
  }

  get logTime(): number {
    return this.#position.logTime;
  }

  get hash(): string {
    return this.#shownHash;
  }

  get active(): Active | undefined {
    return this.#live.active;
  }

  get activations(): readonly ActivationRecord[] {
    return this.#live.activations;
  }

  get pending(): PendingConfirmation | undefined {
    return this.#live.pending;
  }

  get drains(): Drains {
    return this.#live.drains;
  }

  get cookieKeys(): CookieKeys {
    return this.#live.cookieKeys;
  }

  get managedKeys(): ManagedKeys {
    return this.#live.managedKeys;
  }

  get rollouts(): readonly Rollout[] {
    return this.#live.rollouts;
  }

  get(kind: EditableKind, id: string): Stored | undefined {
    return this.#tables.entities[kind].get(id);
  }

  list(kind: EditableKind): readonly Stored[] {
    return this.#tables.entities[kind].list();
  }

  snapshot(id: string): StoredSnapshot | undefined {
    return this.#tables.snapshots.get(id);
  }

  snapshots(): readonly StoredSnapshot[] {
    return this.#tables.snapshots.list();
  }

  revision(kind: Kind, id: string): number | undefined {
    return (kind === 'snapshots' ? this.snapshot(id) : this.get(kind, id))?.revision;
  }

  *rehearse(writes: BatchWrites, snapshot?: WantedSnapshot): Generator<void, Rehearsal> {
    const { changedAt } = this;
    const base = this.active?.index ?? 0;
    const overlay = new Overlay(this.#tables, this.#position, this.#live);
    const live = snapshot?.isOnLive === true ? liveContent(overlay) : undefined;
    const { verdict, touched } = yield* writeAll(overlay, writes, this.applied + 1, live);
    const found = live && (yield* withTouched(overlay, live, touched, writes.owner));
    const conflict = found !== undefined && 'refusal' in found ? found.refusal : undefined;
    const content = found !== undefined && 'content' in found ? found.content : undefined;
    const refused = (snapshot && snapshotRefused(overlay, snapshot)) ?? conflict;
    yield* overlay.sort();
    const entities = content?.entities ?? overlay.configuration();
    const after = { changedAt, entities, secrets: overlay.secrets(), inForce: content?.values ?? {} };
    const pairs = touched.map(({ kind, id, before }) => ({ kind, before, after: overlay.entity(kind, id) }));
    return { verdict, refused, base, pairs, after };
  }

  answered(idempotency: Idempotency): Result | undefined {
    return this.#idempotency.replay(idempotency, this.applied, this.logTime);
  }

  /**
   * Computes the commands of `entries`, ascending by index, up to and including index `last`; indexes without an entry
   * carry nothing for the state. `entry` is the log's at `last`; null leaves the log behind, as before there was one.
   * One round at a time: commit it before the next is prepared.
   */
  prepare(entries: readonly DecodedEntry[], last: number, entry?: LogStamp | null): Round {
    return drain(this.prepareInSteps(entries, last, entry));
  }

  /** The same with a pause wherever others may have their turn. Readers see nothing of it; it must be run to its end. */
  *prepareInSteps(
    entries: readonly DecodedEntry[],
    last: number,
    entry: LogStamp | null | undefined = this.entry,
  ): Generator<void, Round> {
    yield* settle(this.#tables);
    const overlay = new Overlay(this.#tables, this.#position, this.#live);
    const results: Applied[] = [];
    for (const entry of entries) results.push(yield* this.#apply(overlay, entry));
    const { entry: _former, ...position } = overlay.position;
    overlay.position = { ...position, applied: last, ...(entry && { entry }) };
    overlay.rows.put(keys.position, JSON.stringify(overlay.position), last);
    const rows = yield* this.#hash.fold(overlay.rows, last);
    const hash = this.#hash.text;
    yield* overlay.sort();
    const commit = (): void => {
      overlay.install();
      this.#position = overlay.position;
      this.#live = overlay.live;
      this.#shownHash = hash;
    };
    const activation = activationOf(overlay, this.active);
    const changesRollout = overlay.live.rollouts !== this.rollouts;
    return { applied: last, hash, results, rows, activation, changesRollout, commit };
  }

  *#load(rows: readonly StoredRow[]): Generator<void, string | undefined> {
    const loaded = yield* loadRows(rows, this.#tables, this.#requests, this.#idempotency);
    if (typeof loaded === 'string') return loaded;
    for (const row of rows) {
      if (row.key !== keys.hash) this.#hash.add(row);
      yield;
    }
    this.#shownHash = this.#hash.text;
    this.#position = loaded.position ?? this.#position;
    this.#live = loaded.live;
    if (rows.length === 0 || loaded.hash === this.#shownHash) return undefined;
    return `its state hash should be ${loaded.hash ?? 'there'} and is ${this.#shownHash}: rows are missing or too old`;
  }

  *#apply(overlay: Overlay, { index, command }: DecodedEntry): Generator<void, Applied> {
    if (command.op === 'malformed') return this.#refuseMalformed(overlay, index, command);
    const logTime = Math.max(overlay.position.logTime, command.time);
    overlay.position = { ...overlay.position, logTime };
    this.#idempotency.expire(index, logTime, overlay.rows);
    const { requestId } = command;
    const standing = this.#requests.admit(requestId, index, logTime, overlay.rows);
    if (standing.is !== 'new') return { index, requestId, result: this.#repeated(standing, command, index, logTime) };
    const result = yield* this.#execute(overlay, command, index, logTime);
    // What a replay shows beside the result is kept once, under its key.
    const kept: Result = result.replay === undefined ? result : { ...result, replay: {} };
    this.#requests.keep(requestId, kept, index, overlay.rows);
    return { index, requestId, result, ...(command.trace !== undefined && { trace: command.trace }) };
  }

  *#execute(overlay: Overlay, command: Command, index: number, logTime: number): Generator<void, Result> {
    const { idempotency } = command;
    const replay = idempotency && this.#idempotency.replay(idempotency, index, logTime);
    if (replay !== undefined) return replay;
    const verdict = yield* decide(overlay, command, index);
    const result: Result = { index, kind: kindOf(command), id: command.id, ...verdict };
    if (idempotency !== undefined && result.status !== 'moved') {
      const spec =
        result.status === 201 && command.op === 'put' && command.kind !== 'secrets' ? command.spec.fields : undefined;
      this.#idempotency.keep(idempotency, result, spec, logTime, overlay.rows);
    }
    return result;
  }

  #repeated(
    standing: Exclude<RequestStanding, { is: 'new' }>,
    command: Command,
    index: number,
    logTime: number,
  ): Result {
    if (standing.is === 'refused') {
      return { index, status: 409, kind: kindOf(command), id: command.id, error: standing.why };
    }
    const { result: known } = standing;
    if (known.replay === undefined || command.idempotency === undefined) return known;
    return this.#idempotency.replay(command.idempotency, index, logTime) ?? known;
  }

  #refuseMalformed(overlay: Overlay, index: number, { why, requestId }: Malformed): Applied {
    const result: Result = { index, status: 400, kind: 'snapshots', id: '', error: `the command ${why}` };
    if (requestId === undefined) return { index, requestId, result };
    const standing = this.#requests.admit(requestId, index, overlay.position.logTime, overlay.rows);
    if (standing.is === 'new') this.#requests.keep(requestId, result, index, overlay.rows);
    return { index, requestId, result: standing.is === 'answered' ? standing.result : result };
  }
}

function activationOf(overlay: Overlay, before: Active | undefined): Activation | undefined {
  const { active } = overlay;
  if (active === undefined || active.index === before?.index) return undefined;
  const snapshot = overlay.snapshot(active.snapshotId);
  return snapshot === undefined ? undefined : { index: active.index, snapshot };
}
