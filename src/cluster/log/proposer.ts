// Joins the log and the state into "propose and wait" (architecture.md §1, "agree" and "apply"). Every write is named
// here once, before the first attempt, and is answered when this node has applied it: written, visible, answered,
// published, in this order. The same on every node: a follower delivers through the leader.

import type { DiskProblem } from '../../../disk/disk-problem.ts';
import { commandBytesMax } from '../../../raft/index.ts';
import { SluiceError } from '../../errors.ts';
import type { RequestId } from '../../model/answers/member-messages.ts';
import type { Command, Draft, Result } from '../../state/command.ts';
import type { Activation, Applied } from '../../state/config-state.ts';
import type { DurableState } from '../../state/durable-state.ts';
import type { WorkTraces } from '../../telemetry/traces/work-traces.ts';
import type { Clock } from '../../util/clock.ts';
import type { ReceivedOutcome, ReceivedWrite, Relay, RelayTarget } from '../relay/relayed-write.ts';
import { deadlineMs, writeDeadlineMs } from '../write-deadline.ts';
import { WriteTraces } from '../write-traces.ts';
import { AppliedWaiters } from './applied-waiters.ts';
import { ApplyQueue } from './apply-queue.ts';
import { WriteHold } from './edit-pause.ts';
import type { Adopted, Committed, FromLog, Leader, LogPort } from './log-port.ts';
import { PendingProposals } from './pending-proposals.ts';
import { ReadBarriers } from './read-barriers.ts';
import { RelayedWrites } from './relayed-writes.ts';
import type { ReplicatedLog } from './replicated-log.ts';
import { tracedProposals } from './traced-proposals.ts';

/** Told what happens here; for metrics. */
export interface ProposerObserver {
  wrote(outcome: 'applied' | 'not_applied' | 'unknown'): void;
  /** A batch of commands was computed and written to the state. */
  applied(ms: number): void;
  /** A command was known already, and its first result counts. */
  repeated(): void;
}

/** Results of one round of applied commands. */
interface RoundNews {
  readonly last: number;
  readonly results: readonly Applied[];
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
  /** Undefined: nothing is traced. */
  readonly traces?: WorkTraces | undefined;
  /** Reason why this node takes no writes at the moment, for refusals to name. */
  readonly why?: (() => string | undefined) | undefined;
}

export class Proposer implements ReplicatedLog, RelayTarget {
  readonly #port: LogPort;
  readonly #state: DurableState;
  readonly #clock: Clock;
  readonly #nodeId: string;
  readonly #adopt: (generation: number) => Promise<void>;
  readonly #observer: ProposerObserver;
  readonly #writes: PendingProposals;
  readonly #relayed: RelayedWrites;
  readonly #reads: ReadBarriers;
  readonly #waiters: AppliedWaiters;
  readonly #subscribers = new Set<(activation: Activation) => void>();
  readonly #rolloutSubscribers = new Set<() => void>();
  readonly #roundSubscribers = new Set<(news: RoundNews | 'adopted') => void>();
  readonly #applyQueue = new ApplyQueue();
  readonly #hold: WriteHold;
  readonly #traces: WriteTraces | undefined;
  readonly #why: () => string | undefined;
  /** Greatest index that a reader has asked for. */
  #asked = 0;
  #leader: Leader | 'self' | undefined;
  #applying = false;
  #logFailed: string | undefined;
  #logWaits: DiskProblem | undefined;
  #removed: string | undefined;
  #stopped: Promise<void> | undefined;
  #seq = 0;

  constructor({ port, state, clock, nodeId, relay, adopt, observer = unobserved, traces, why }: ProposerOptions) {
    this.#port = port;
    this.#state = state;
    this.#clock = clock;
    this.#nodeId = nodeId;
    this.#adopt = adopt ?? refuseToAdopt;
    this.#observer = observer;
    this.#why = why ?? (() => undefined);
    this.#traces = traces && new WriteTraces(traces);
    const proposals = this.#traces === undefined ? port : tracedProposals(port, this.#traces);
    const waiters = new AppliedWaiters(clock, state.view.applied);
    this.#waiters = waiters;
    this.#writes = new PendingProposals({ port: proposals, relay, clock, waiters, failed: () => this.failed });
    this.#hold = new WriteHold(clock);
    this.#relayed = new RelayedWrites({ port: proposals, clock, hold: this.#hold });
    this.#reads = new ReadBarriers({ port, clock });
    port.receive((message) => this.#receive(message));
    state.onFailure((reason) => {
      this.#applyQueue.clear();
      this.#endAll(reason);
    });
  }

  /** Calls `subscriber` with each activation once it is on disk and answered. Returns the end of the subscription. */
  onActivation(subscriber: (activation: Activation) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /**
   * Calls `subscriber` whenever a rollout began, changed or ended in the view, after an activation that came with it.
   * Returns the end of the subscription.
   */
  onRollout(subscriber: () => void): () => void {
    this.#rolloutSubscribers.add(subscriber);
    return () => this.#rolloutSubscribers.delete(subscriber);
  }

  /**
   * Calls `subscriber` after each round of commands that the view shows, and with `adopted` after the state was replaced
   * as a whole. Returns the end of the subscription.
   */
  onRound(subscriber: (news: RoundNews | 'adopted') => void): () => void {
    this.#roundSubscribers.add(subscriber);
    return () => this.#roundSubscribers.delete(subscriber);
  }

  /** Why nothing is written any more, here or in the log: `storage failed: …`. Undefined while all is well. */
  get failed(): string | undefined {
    return this.#state.failed ?? this.#logFailed;
  }

  /** Why nothing is written for the time being: `storage waits: …`. It goes on by itself. */
  get waits(): string | undefined {
    const problem = this.#logWaits ?? this.#state.waits;
    return problem && `storage waits: ${problem.reason}`;
  }

  /** True while this node knows its leader. */
  get hasLeader(): boolean {
    return this.#leader !== undefined && this.#removed === undefined;
  }

  /** Index that readers wait for and index that is applied; undefined when none waits. */
  get behind(): { readonly applied: number; readonly asked: number } | undefined {
    const { applied } = this.#waiters;
    return this.#asked > applied ? { applied, asked: this.#asked } : undefined;
  }

  /** True while this node leads, as far as it knows. */
  get leads(): boolean {
    return this.#leader === 'self';
  }

  propose(draft: Draft): Promise<Result> {
    if (this.#traces === undefined) return this.#proposeCounted(draft);
    return this.#traces.proposing(draft.op, () => this.#proposeCounted(draft));
  }

  async #proposeCounted(draft: Draft): Promise<Result> {
    try {
      // Only here while this node leads: the leader keeps relayed writes back, too.
      const held = this.#leader === 'self' ? this.#hold.enter(draft) : undefined;
      if (held !== undefined) await held;
      const result = await this.#propose(draft);
      this.#observer.wrote('applied');
      return result;
    } catch (error) {
      const isUnknown = error instanceof SluiceError && error.code === 'OUTCOME_UNKNOWN';
      this.#observer.wrote(isUnknown ? 'unknown' : 'not_applied');
      throw this.#explained(error);
    }
  }

  async receive(request: ReceivedWrite): Promise<ReceivedOutcome> {
    const unable = this.failed ?? this.waits;
    if (unable !== undefined) return { outcome: 'not-applied', reason: unable };
    if (this.#stopped !== undefined) return { outcome: 'not-applied', reason: 'shutting down' };
    if (this.#leader !== 'self') return { outcome: 'not-leader', leader: this.#leader };
    const elsewhere = (): Leader | undefined => (this.#leader === 'self' ? undefined : this.#leader);
    if (this.#traces === undefined) return await this.#relayed.receive(request, elsewhere);
    const receive = (): Promise<ReceivedOutcome> => {
      this.#traces?.named(request.requestId);
      return this.#relayed.receive(request, elsewhere);
    };
    return await this.#traces.proposing('relayed', receive, ({ outcome }) => (outcome === 'applied' ? '' : outcome));
  }

  async readBarrier(): Promise<number> {
    this.#refuseAfterTheEnd();
    // With the log as it is this node may wait long for what others have.
    this.#refuseWhileWaiting(this.#logWaits && this.waits);
    const index = await this.#reads.index(deadlineMs).catch((error: unknown) => {
      throw this.#explained(error);
    });
    this.#asked = Math.max(this.#asked, index);
    await this.appliedAtLeast(index, deadlineMs);
    return index;
  }

  async appliedAtLeast(index: number, withinMs: number): Promise<void> {
    if (this.#waiters.applied >= index) return;
    this.#refuseAfterTheEnd();
    await this.#waiters.wait(index, withinMs);
  }

  /** Takes no more writes, waits until those under way are answered, and stops the log. May be called again. */
  stop(): Promise<void> {
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  /** The state stays open. */
  async #end(): Promise<void> {
    await this.#writes.answered();
    this.#reads.fail(new SluiceError('UNAVAILABLE', 'shutting down'));
    this.#port.stop();
  }

  async #propose(draft: Draft): Promise<Result> {
    this.#refuseAfterTheEnd();
    this.#refuseWhileWaiting(this.waits);
    if (this.#stopped !== undefined) throw new SluiceError('UNAVAILABLE', 'shutting down');
    const seq = this.#seq + 1;
    const { incarnation, boot } = this.#state.identity;
    const requestId: RequestId = {
      origin: this.#nodeId,
      incarnation,
      boot,
      seq,
      ackedBelow: this.#writes.lowest ?? seq,
    };
    const trace = makesLive(draft) ? this.#traces?.carried : undefined;
    const time = this.#clock.nowMs();
    const command: Command = { ...draft, v: 1, requestId, time, ...(trace !== undefined && { trace }) };
    const bytes = this.#state.encode(command);
    const most = draft.op === 'batch' ? commandBytesMax : singleBytesMax;
    if (bytes.length > most) throw tooLarge(draft, bytes.length, most);
    if (!this.#writes.hasRoomFor(bytes.length)) {
      throw new SluiceError('UNAVAILABLE', 'too many writes are waiting');
    }
    this.#seq = seq;
    this.#traces?.named(requestId);
    return await this.#writes.write(requestId, bytes, writeDeadlineMs(draft));
  }

  #receive(message: FromLog): void {
    switch (message.type) {
      case 'committed':
      case 'adopt':
        this.#applyQueue.add(message);
        void this.#applyAll();
        return;
      case 'fatal':
        this.#logFailed = message.reason;
        this.#endAll(message.reason);
        this.#writes.giveUpAll();
        return;
      case 'disk':
        this.#logWaits = message.problem;
        return;
      case 'removed':
        this.#removed = message.reason;
        this.#reads.fail(new SluiceError('UNAVAILABLE', message.reason));
        return;
      case 'role':
        this.#leader = message.role === 'leader' ? 'self' : message.leader;
        this.#writes.leaderChanged(this.#leader, message.soleVoter);
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
        this.#applyQueue.clear();
        if (this.#state.failed !== undefined) continue;
        this.#logFailed ??= `storage failed: ${error instanceof Error ? error.message : error}`;
        this.#endAll(this.#logFailed);
      }
    }
    this.#applying = false;
  }

  #next(): Committed | Adopted | undefined {
    return this.#applyQueue.next(this.#state.view.applied);
  }

  async #apply({ batch: { last, term, logTime, entries } }: Committed): Promise<void> {
    if (last > this.#state.view.applied) {
      const startedAt = this.#clock.monotonicMs();
      const stamp = { term, time: logTime };
      const { results, activation, changesRollout } = await this.#state.apply(entries, last, stamp, (entry) =>
        this.#relayed.takeDecoded(entry),
      );
      const appliedAt = this.#clock.monotonicMs();
      this.#observer.applied(appliedAt - startedAt);
      for (const applied of results) {
        this.#traces?.applied(applied, startedAt, appliedAt);
        this.#answer(applied);
      }
      this.#waiters.advance(last);
      if (activation !== undefined) this.#publish(activation);
      if (changesRollout) this.#publishRollout();
      for (const subscriber of this.#roundSubscribers) subscriber({ last, results });
    }
    this.#port.applied(last);
  }

  async #adoptState({ generation }: Adopted): Promise<void> {
    const before = this.#state.view.active?.index;
    await this.#adopt(generation);
    const { applied, active, snapshot } = this.#state.view;
    this.#waiters.advance(applied);
    const current = active && snapshot.call(this.#state.view, active.snapshotId);
    if (active && current && active.index !== before) this.#publish({ index: active.index, snapshot: current });
    this.#publishRollout();
    for (const subscriber of this.#roundSubscribers) subscriber('adopted');
  }

  #publishRollout(): void {
    for (const subscriber of this.#rolloutSubscribers) subscriber();
  }

  #publish(activation: Activation): void {
    for (const subscriber of this.#subscribers) subscriber(activation);
  }

  #answer({ index, requestId, result }: Applied): void {
    if (result.index !== index) this.#observer.repeated();
    this.#hold.decided(result);
    if (requestId === undefined) return;
    const { incarnation, boot } = this.#state.identity;
    const own = requestId.origin === this.#nodeId && requestId.incarnation === incarnation && requestId.boot === boot;
    if (own) this.#writes.answer(requestId.seq, result);
    else this.#relayed.applied(requestId, result);
  }

  /**
   * Ends all proposals when the storage is gone: the log answers each write with its known outcome, and no read can be
   * promised any more.
   */
  #endAll(reason: string): void {
    this.#port.stop();
    const failed = new SluiceError('UNAVAILABLE', reason);
    this.#reads.fail(failed);
    this.#relayed.fail(reason);
    this.#waiters.fail(failed);
    this.#writes.refuseSettled();
  }

  /** The same refusal with the state of the cluster that is behind it. */
  #explained(error: unknown): unknown {
    const why = this.#why();
    if (why === undefined || !(error instanceof SluiceError) || error.code !== 'UNAVAILABLE') return error;
    return error.message.includes(why) ? error : new SluiceError('UNAVAILABLE', `${error.message}: ${why}`);
  }

  #refuseWhileWaiting(why: string | undefined): void {
    if (why !== undefined) throw new SluiceError('UNAVAILABLE', why);
  }

  /** Refuses commands after the end of the log: nothing will be agreed on any more. */
  #refuseAfterTheEnd(): void {
    const why = this.failed ?? this.#removed;
    if (why !== undefined) throw new SluiceError('UNAVAILABLE', why);
  }
}

/** Something is installed on all nodes because of it. */
function makesLive(draft: Draft): boolean {
  if (draft.op === 'batch') return draft.snapshot?.activate === true;
  return draft.op === 'activate' || draft.op === 'rollback' || draft.op === 'revert' || draft.op === 'rollout';
}

/** Limit of every command but a batch: a request body of 4 MiB, with room for what names and seals it. */
const singleBytesMax = (4 * 1024 + 256) * 1024;

/** Any request body fits, written afresh; a capture carries the values of its references too, escaped as JSON does. */
function tooLarge({ op }: Draft, length: number, most: number): SluiceError {
  const what = op === 'capture' ? 'the snapshot with the values of its env and file references' : 'the write';
  return new SluiceError('TOO_LARGE', `${what} takes ${length} bytes of the log, which takes ${most} at once`);
}

const refuseToAdopt = (): Promise<void> => Promise.reject(new Error('this log has no checkpoints'));
