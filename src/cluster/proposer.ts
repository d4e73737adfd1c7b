// Joins the log and the state into "propose and wait" (architecture.md §1, "agree" and "apply"). Every write is named
// here once, before the first attempt, and is answered when this node has applied it: written, visible, answered,
// published, in this order. The same on every node: a follower delivers through the leader.
import { commandBytesMax } from '../../raft/index.ts';
import type { Cancel, Clock } from '../clock.ts';
import { SluiceError } from '../errors.ts';
import type { Command, Draft, RequestId, Result } from '../state/command.ts';
import type { Activation, Applied } from '../state/config-state.ts';
import type { DurableState } from '../state/durable-state.ts';
import { AppliedWaiters } from './applied-waiters.ts';
import { Attempts } from './attempts.ts';
import { Delivery } from './delivery.ts';
import type { Adopted, Committed, FromLog, Leader, LogPort } from './log-port.ts';
import { ReadBarriers } from './read-barriers.ts';
import type { ReceivedOutcome, Relay, RelayRequest, RelayTarget } from './relay.ts';
import { RelayedWrites } from './relayed-writes.ts';
import type { ReplicatedLog } from './replicated-log.ts';

export const deadlineMs = 10_000;
/** No more than results are kept for one start of a node (raft.md A15). */
export const inFlightMax = 4_096;
export const inFlightBytesMax = 64 * 1024 * 1024;

/** Told what happens here; for metrics. */
export interface ProposerObserver {
  wrote(outcome: 'applied' | 'not_applied' | 'unknown'): void;
  /** A batch of commands was computed and written to the state. */
  applied(ms: number): void;
  /** A command was known already, and its first result counts. */
  repeated(): void;
}

const unobserved: ProposerObserver = { wrote: () => undefined, applied: () => undefined, repeated: () => undefined };

export interface ProposerOptions {
  readonly port: LogPort;
  readonly state: DurableState;
  readonly clock: Clock;
  /** Name of this node; the origin of its requests. */
  readonly nodeId: string;
  /** Carries writes to another leader. Without one a node that does not lead takes no writes. */
  readonly relay?: Relay | undefined;
  /** Switches the state to a generation that was built from a checkpoint. */
  readonly adopt?: ((generation: number) => Promise<void>) | undefined;
  readonly observer?: ProposerObserver;
}

interface Pending {
  readonly requestId: RequestId;
  readonly bytes: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: SluiceError) => void;
  readonly cancelDeadline: Cancel;
  readonly delivery: Delivery;
}

export class Proposer implements ReplicatedLog, RelayTarget {
  readonly #port: LogPort;
  readonly #state: DurableState;
  readonly #clock: Clock;
  readonly #nodeId: string;
  readonly #relay: Relay | undefined;
  readonly #adopt: (generation: number) => Promise<void>;
  readonly #observer: ProposerObserver;
  /** By seq, ascending: the first one is the lowest that is not answered. */
  readonly #writes = new Map<number, Pending>();
  readonly #attempts: Attempts;
  readonly #relayed: RelayedWrites;
  readonly #reads: ReadBarriers;
  readonly #waiters: AppliedWaiters;
  readonly #subscribers = new Set<(activation: Activation) => void>();
  readonly #arrived: (Committed | Adopted)[] = [];
  #leader: Leader | 'self' | undefined;
  #applying = false;
  #logFailed: string | undefined;
  #stopping = false;
  #idle: () => void = () => undefined;
  #seq = 0;
  #bytes = 0;

  constructor({ port, state, clock, nodeId, relay, adopt, observer = unobserved }: ProposerOptions) {
    this.#port = port;
    this.#state = state;
    this.#clock = clock;
    this.#nodeId = nodeId;
    this.#relay = relay;
    this.#adopt = adopt ?? refuseToAdopt;
    this.#observer = observer;
    this.#attempts = new Attempts(port);
    this.#relayed = new RelayedWrites({ attempts: this.#attempts, state, clock });
    this.#reads = new ReadBarriers({ port, clock });
    this.#waiters = new AppliedWaiters(clock, state.view.applied);
    port.receive((message) => this.#receive(message));
  }

  /** Calls `subscriber` with each activation once it is on disk and answered. Returns the end of the subscription. */
  onActivation(subscriber: (activation: Activation) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Why nothing is written any more, here or in the log: `storage failed: …`. Undefined while all is well. */
  get failed(): string | undefined {
    return this.#state.failed ?? this.#logFailed;
  }

  /** True while this node knows who leads. */
  get hasLeader(): boolean {
    return this.#leader !== undefined;
  }

  async propose(draft: Draft): Promise<Result> {
    try {
      const result = await this.#propose(draft);
      this.#observer.wrote('applied');
      return result;
    } catch (error) {
      const isUnknown = error instanceof SluiceError && error.code === 'OUTCOME_UNKNOWN';
      this.#observer.wrote(isUnknown ? 'unknown' : 'not_applied');
      throw error;
    }
  }

  async receive(request: Pick<RelayRequest, 'requestId' | 'command' | 'remainingMs'>): Promise<ReceivedOutcome> {
    if (this.failed !== undefined) return { outcome: 'not-applied', reason: this.failed };
    if (this.#stopping) return { outcome: 'not-applied', reason: 'shutting down' };
    if (this.#leader !== 'self') return { outcome: 'not-leader', leader: this.#leader };
    return await this.#relayed.receive(request, () => (this.#leader === 'self' ? undefined : this.#leader));
  }

  async readBarrier(): Promise<number> {
    this.#refuseAfterFailure();
    const index = await this.#reads.index(deadlineMs);
    await this.appliedAtLeast(index, deadlineMs);
    return index;
  }

  async appliedAtLeast(index: number, withinMs: number): Promise<void> {
    if (this.#waiters.applied >= index) return;
    this.#refuseAfterFailure();
    await this.#waiters.wait(index, withinMs);
  }

  /** Takes no more writes, waits until those under way are answered, and stops the log. The state stays open. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#writes.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    this.#reads.fail(new SluiceError('UNAVAILABLE', 'shutting down', retryAfter));
    this.#port.post({ type: 'stop' });
  }

  async #propose(draft: Draft): Promise<Result> {
    this.#refuseAfterFailure();
    if (this.#stopping) throw new SluiceError('UNAVAILABLE', 'shutting down', retryAfter);
    const seq = this.#seq + 1;
    const [lowest = seq] = this.#writes.keys();
    const { incarnation, boot } = this.#state.identity;
    const requestId: RequestId = { origin: this.#nodeId, incarnation, boot, seq, ackedBelow: lowest };
    const command: Command = { ...draft, v: 1, requestId, time: this.#clock.nowMs() };
    const bytes = this.#state.encode(command);
    if (bytes.length > commandBytesMax) throw tooLarge(draft, bytes.length);
    if (this.#writes.size >= inFlightMax || this.#bytes + bytes.length > inFlightBytesMax) {
      throw new SluiceError('UNAVAILABLE', 'too many writes are waiting', retryAfter);
    }
    this.#seq = seq;
    return await this.#write(requestId, bytes);
  }

  #write(requestId: RequestId, bytes: Uint8Array): Promise<Result> {
    const { seq } = requestId;
    return new Promise((resolve, reject) => {
      const cancelDeadline = this.#clock.after(deadlineMs, () => this.#giveUp(seq));
      const deadline = this.#clock.monotonicMs() + deadlineMs;
      const applied = (index: number, result: Result): void => void this.#appliedElsewhere(seq, index, result);
      const parts = { attempts: this.#attempts, relay: this.#relay, clock: this.#clock };
      const delivery = new Delivery(parts, { requestId, bytes, deadline, applied }, this.#leader);
      this.#writes.set(seq, { requestId, bytes: bytes.length, resolve, reject, cancelDeadline, delivery });
      this.#bytes += bytes.length;
    });
  }

  /** Its own apply answers first, unless a checkpoint has jumped over the command. */
  async #appliedElsewhere(seq: number, index: number, result: Result): Promise<void> {
    await this.#waiters.wait(index, deadlineMs).then(
      () => this.#take(seq)?.resolve(result),
      () => undefined,
    );
  }

  #receive(message: FromLog): void {
    switch (message.type) {
      case 'committed':
      case 'adopt':
        this.#arrived.push(message);
        void this.#applyAll();
        return;
      case 'outcome':
        this.#attempts.outcome(message);
        if (this.failed !== undefined) this.#refuseSettled();
        return;
      case 'readable':
        this.#reads.answer(message);
        return;
      case 'fatal':
        this.#logFailed = message.reason;
        this.#endAll(message.reason);
        this.#attempts.fail(message.reason);
        for (const seq of [...this.#writes.keys()]) this.#giveUp(seq);
        return;
      case 'role':
        this.#leader = message.role === 'leader' ? 'self' : message.leader;
        for (const { delivery } of this.#writes.values()) delivery.leaderChanged(this.#leader);
        this.#reads.leaderChanged();
        return;
    }
  }

  async #applyAll(): Promise<void> {
    if (this.#applying) return;
    this.#applying = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      try {
        if (next.type === 'adopt') await this.#adoptState(next);
        else await this.#apply(next);
      } catch (error) {
        this.#arrived.length = 0;
        this.#logFailed ??= `storage failed: ${error instanceof Error ? error.message : error}`;
        this.#endAll(this.#state.failed ?? this.#logFailed);
      }
    }
    this.#applying = false;
  }

  /** What lies behind a gap waits for the checkpoint that fills it. */
  #next(): Committed | Adopted | undefined {
    const [first] = this.#arrived;
    if (first?.type !== 'committed' || first.first <= this.#state.view.applied + 1) return this.#arrived.shift();
    const adoptAt = this.#arrived.findIndex(({ type }) => type === 'adopt');
    return adoptAt < 0 ? undefined : this.#arrived.splice(adoptAt, 1)[0];
  }

  async #apply({ last, term, logTime, entries }: Committed): Promise<void> {
    if (last > this.#state.view.applied) {
      const startedAt = this.#clock.monotonicMs();
      const { results, activation } = await this.#state.apply(entries, last, { term, time: logTime });
      this.#observer.applied(this.#clock.monotonicMs() - startedAt);
      for (const applied of results) this.#answer(applied);
      this.#waiters.advance(last);
      if (activation !== undefined) this.#publish(activation);
    }
    this.#port.post({ type: 'applied', index: last });
  }

  async #adoptState({ generation }: Adopted): Promise<void> {
    const before = this.#state.view.active?.index;
    await this.#adopt(generation);
    const { applied, active, snapshot } = this.#state.view;
    this.#waiters.advance(applied);
    const current = active && snapshot.call(this.#state.view, active.snapshotId);
    if (active && current && active.index !== before) this.#publish({ index: active.index, snapshot: current });
  }

  #publish(activation: Activation): void {
    for (const subscriber of this.#subscribers) subscriber(activation);
  }

  #answer({ index, requestId, result }: Applied): void {
    if (result.index !== index) this.#observer.repeated();
    if (requestId === undefined) return;
    const { incarnation, boot } = this.#state.identity;
    const own = requestId.origin === this.#nodeId && requestId.incarnation === incarnation && requestId.boot === boot;
    if (own) this.#take(requestId.seq)?.resolve(result);
    else this.#relayed.applied(requestId, result);
  }

  #giveUp(seq: number): void {
    const pending = this.#take(seq);
    if (pending === undefined) return;
    const { delivery, requestId } = pending;
    if (delivery.isUncertain) {
      pending.reject(outcomeUnknown(this.failed ?? 'the write was not confirmed in time', requestId));
    } else pending.reject(new SluiceError('UNAVAILABLE', this.failed ?? delivery.reason, retryAfter));
  }

  /** Storage is gone: the log says of each write what is known of it, and no read can be promised any more. */
  #endAll(reason: string): void {
    this.#port.post({ type: 'stop' });
    const failed = new SluiceError('UNAVAILABLE', reason, retryAfter);
    this.#reads.fail(failed);
    this.#relayed.fail(reason);
    this.#waiters.fail(failed);
    this.#refuseSettled();
  }

  /** After a failure: whatever the log has said its last word about. */
  #refuseSettled(): void {
    for (const [seq, { delivery }] of [...this.#writes]) if (!delivery.isUnderWay) this.#giveUp(seq);
  }

  #take(seq: number): Pending | undefined {
    const pending = this.#writes.get(seq);
    if (pending === undefined) return undefined;
    this.#writes.delete(seq);
    this.#bytes -= pending.bytes;
    pending.cancelDeadline();
    pending.delivery.end();
    if (this.#writes.size === 0) this.#idle();
    return pending;
  }

  #refuseAfterFailure(): void {
    if (this.failed !== undefined) throw new SluiceError('UNAVAILABLE', this.failed, retryAfter);
  }
}

const retryAfter = { headers: { 'Retry-After': '1' } };

/** Any request body fits, written afresh; a capture carries the values of its references too, escaped as JSON does. */
function tooLarge({ op }: Draft, length: number): SluiceError {
  const what = op === 'capture' ? 'the snapshot with the values of its env and file references' : 'the write';
  return new SluiceError(
    'TOO_LARGE',
    `${what} takes ${length} bytes of the log, which takes ${commandBytesMax} at once`,
  );
}

const refuseToAdopt = (): Promise<void> => Promise.reject(new Error('this log has no checkpoints'));

/** The requestId names the write in the log of this node's operator; it is not a secret. */
function outcomeUnknown(reason: string, { origin, incarnation, boot, seq }: RequestId): SluiceError {
  const requestId = [origin, incarnation, boot, seq].join('-');
  return new SluiceError('OUTCOME_UNKNOWN', reason, { body: { requestId, outcome: 'unknown' } });
}
