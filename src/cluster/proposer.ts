// Joins the log and the state into "propose and wait" (architecture.md §1, "agree" and "apply"). Every write is named
// here once, before the first attempt, and is answered when this node has applied it: written, visible, answered,
// published, in this order.
import type { Cancel, Clock } from '../clock.ts';
import { SluiceError } from '../errors.ts';
import type { Command, Draft, RequestId, Result } from '../state/command.ts';
import type { Activation, Applied } from '../state/config-state.ts';
import type { DurableState } from '../state/durable-state.ts';
import { AppliedWaiters } from './applied-waiters.ts';
import type { Committed, FromLog, LogPort, Refusal } from './log-port.ts';
import type { ReplicatedLog } from './replicated-log.ts';

export const deadlineMs = 10_000;
/** No more than results are kept for one start of a node (raft.md A15). */
export const inFlightMax = 4_096;
export const inFlightBytesMax = 64 * 1024 * 1024;

export interface ProposerOptions {
  readonly port: LogPort;
  readonly state: DurableState;
  readonly clock: Clock;
  /** Name of this node; the origin of its requests. */
  readonly nodeId: string;
}

interface Pending {
  readonly seq: number;
  readonly requestId: RequestId;
  readonly bytes: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: SluiceError) => void;
  readonly cancelDeadline: Cancel;
}

interface PendingRead {
  readonly resolve: (index: number) => void;
  readonly reject: (error: SluiceError) => void;
  readonly cancelDeadline: Cancel;
}

export class Proposer implements ReplicatedLog {
  readonly #port: LogPort;
  readonly #state: DurableState;
  readonly #clock: Clock;
  readonly #nodeId: string;
  /** By seq, ascending: the first one is the lowest that is not answered. */
  readonly #writes = new Map<number, Pending>();
  readonly #reads = new Map<number, PendingRead>();
  readonly #waiters: AppliedWaiters;
  readonly #subscribers = new Set<(activation: Activation) => void>();
  readonly #committed: Committed[] = [];
  #applying = false;
  #logFailed: string | undefined;
  #stopping = false;
  #idle: () => void = () => undefined;
  #seq = 0;
  #readId = 0;
  #bytes = 0;

  constructor({ port, state, clock, nodeId }: ProposerOptions) {
    this.#port = port;
    this.#state = state;
    this.#clock = clock;
    this.#nodeId = nodeId;
    this.#waiters = new AppliedWaiters(clock, state.view.applied);
    port.receive((message) => this.#receive(message));
  }

  /** Calls `subscriber` with each activation once it is on disk and answered. Returns the end of the subscription. */
  onActivation(subscriber: (activation: Activation) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  async propose(draft: Draft): Promise<Result> {
    this.#refuseAfterFailure();
    if (this.#stopping) throw new SluiceError('UNAVAILABLE', 'shutting down', retryAfter);
    const seq = this.#seq + 1;
    const [lowest = seq] = this.#writes.keys();
    const { incarnation, boot } = this.#state.identity;
    const requestId: RequestId = { origin: this.#nodeId, incarnation, boot, seq, ackedBelow: lowest };
    const command: Command = { ...draft, v: 1, requestId, time: this.#clock.nowMs() };
    const bytes = this.#state.encode(command);
    if (this.#writes.size >= inFlightMax || this.#bytes + bytes.length > inFlightBytesMax) {
      throw new SluiceError('UNAVAILABLE', 'too many writes are waiting', retryAfter);
    }
    this.#seq = seq;
    return await this.#write(seq, requestId, bytes);
  }

  async readBarrier(): Promise<number> {
    this.#refuseAfterFailure();
    const index = await new Promise<number>((resolve, reject) => {
      const id = ++this.#readId;
      const cancelDeadline = this.#clock.after(deadlineMs, () => {
        this.#reads.delete(id);
        reject(new SluiceError('UNAVAILABLE', 'no index to read at was agreed on in time', retryAfter));
      });
      this.#reads.set(id, { resolve, reject, cancelDeadline });
      this.#port.post({ type: 'read', id });
    });
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
    this.#port.post({ type: 'stop' });
  }

  #write(seq: number, requestId: RequestId, bytes: Uint8Array): Promise<Result> {
    return new Promise((resolve, reject) => {
      const cancelDeadline = this.#clock.after(deadlineMs, () => {
        this.#take(seq)?.reject(outcomeUnknown('the write was not confirmed in time', requestId));
      });
      this.#writes.set(seq, { seq, requestId, bytes: bytes.length, resolve, reject, cancelDeadline });
      this.#bytes += bytes.length;
      this.#port.post({ type: 'propose', id: seq, bytes });
    });
  }

  #receive(message: FromLog): void {
    switch (message.type) {
      case 'committed':
        this.#committed.push(message);
        void this.#applyAll();
        return;
      case 'outcome':
        // An index alone answers nobody: the caller waits until this node has applied it.
        if ('refused' in message) this.#refuse(message.id, message.refused);
        return;
      case 'readable':
        this.#answerRead(message);
        return;
      case 'fatal':
        this.#logFailed = message.reason;
        this.#endAll(message.reason);
        for (const seq of [...this.#writes.keys()]) this.#refuse(seq, { outcome: 'unknown', reason: message.reason });
        return;
      case 'role':
        return;
    }
  }

  async #applyAll(): Promise<void> {
    if (this.#applying) return;
    this.#applying = true;
    for (let next = this.#committed.shift(); next !== undefined; next = this.#committed.shift()) {
      try {
        await this.#apply(next);
      } catch {
        this.#committed.length = 0;
        this.#endAll(this.#state.failed ?? 'storage failed');
      }
    }
    this.#applying = false;
  }

  async #apply({ last, entries }: Committed): Promise<void> {
    const { results, activation } = await this.#state.apply(entries, last);
    for (const applied of results) this.#answer(applied);
    this.#waiters.advance(last);
    if (activation !== undefined) for (const subscriber of this.#subscribers) subscriber(activation);
    this.#port.post({ type: 'applied', index: last });
  }

  #answer({ requestId, result }: Applied): void {
    const { incarnation, boot } = this.#state.identity;
    const own = requestId?.origin === this.#nodeId && requestId.incarnation === incarnation && requestId.boot === boot;
    if (own) this.#take(requestId.seq)?.resolve(result);
  }

  #answerRead(message: Extract<FromLog, { type: 'readable' }>): void {
    const read = this.#reads.get(message.id);
    if (read === undefined) return;
    this.#reads.delete(message.id);
    read.cancelDeadline();
    if ('index' in message) read.resolve(message.index);
    else read.reject(new SluiceError('UNAVAILABLE', message.refused.reason, retryAfter));
  }

  #refuse(seq: number, { outcome, reason }: Refusal): void {
    const pending = this.#take(seq);
    if (pending === undefined) return;
    const why = this.#failed ?? reason;
    if (outcome === 'unknown') pending.reject(outcomeUnknown(why, pending.requestId));
    else pending.reject(new SluiceError('UNAVAILABLE', why, retryAfter));
  }

  /** Storage is gone: the log says of each write what is known of it, and no read can be promised any more. */
  #endAll(reason: string): void {
    this.#port.post({ type: 'stop' });
    const failed = new SluiceError('UNAVAILABLE', reason, retryAfter);
    for (const read of this.#reads.values()) {
      read.cancelDeadline();
      read.reject(failed);
    }
    this.#reads.clear();
    this.#waiters.fail(failed);
  }

  #take(seq: number): Pending | undefined {
    const pending = this.#writes.get(seq);
    if (pending === undefined) return undefined;
    this.#writes.delete(seq);
    this.#bytes -= pending.bytes;
    pending.cancelDeadline();
    if (this.#writes.size === 0) this.#idle();
    return pending;
  }

  #refuseAfterFailure(): void {
    if (this.#failed !== undefined) throw new SluiceError('UNAVAILABLE', this.#failed, retryAfter);
  }

  get #failed(): string | undefined {
    return this.#state.failed ?? this.#logFailed;
  }
}

const retryAfter = { headers: { 'Retry-After': '1' } };

/** The requestId names the write in the log of this node's operator; it is not a secret. */
function outcomeUnknown(reason: string, { origin, incarnation, boot, seq }: RequestId): SluiceError {
  const requestId = [origin, incarnation, boot, seq].join('-');
  return new SluiceError('OUTCOME_UNKNOWN', reason, { body: { requestId, outcome: 'unknown' } });
}
