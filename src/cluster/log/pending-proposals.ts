// Unanswered writes of this node, by seq: each is on its way to the leader (delivery.ts) until this node has applied
// it, or until its time or the log is over. Then its caller gets the certain part of its outcome, once.

import { SluiceError } from '../../errors.ts';
import type { RequestId } from '../../model/answers/member-messages.ts';
import type { Result } from '../../state/command.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import { otherTime } from '../relay/relay-credential.ts';
import type { Relay } from '../relay/relayed-write.ts';
import { deadlineMs } from '../write-deadline.ts';
import type { AppliedWaiters } from './applied-waiters.ts';
import { Delivery, type DeliveryParts } from './delivery.ts';
import { diskFull, type Leader, type LogPort } from './log-port.ts';

/** No more than results are kept for one start of a node (raft.md A15). */
export const inFlightMax = 4_096;
const inFlightBytesMax = 64 * 1024 * 1024;

export interface PendingProposalsParts {
  readonly port: Pick<LogPort, 'propose'>;
  readonly relay: Relay | undefined;
  readonly clock: Clock;
  readonly waiters: AppliedWaiters;
  /** Why nothing is written any more; undefined while all is well. */
  readonly failed: () => string | undefined;
}

interface Pending {
  readonly requestId: RequestId;
  readonly bytes: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: SluiceError) => void;
  /** Monotonic ms. */
  readonly deadline: number;
  readonly delivery: Delivery;
}

export class PendingProposals {
  readonly #parts: PendingProposalsParts;
  readonly #deliveryParts: DeliveryParts;
  /** Ascending: the first one is the lowest that is not answered. */
  readonly #writes = new Map<number, Pending>();
  #leader: Leader | 'self' | undefined;
  #soleVoter = false;
  #bytes = 0;
  /** One for all: of the earliest, and no later than the usual deadline of a write that comes meanwhile. */
  #cancelDeadline: Cancel | undefined;
  #emptied: () => void = () => undefined;

  constructor(parts: PendingProposalsParts) {
    this.#parts = parts;
    const { port, relay, clock, failed } = parts;
    const answered = (): void => {
      if (failed() !== undefined) this.refuseSettled();
    };
    this.#deliveryParts = { port, relay, clock, answered };
  }

  /** The lowest seq that is not answered; undefined when all are. */
  get lowest(): number | undefined {
    const [lowest] = this.#writes.keys();
    return lowest;
  }

  hasRoomFor(bytes: number): boolean {
    return this.#writes.size < inFlightMax && this.#bytes + bytes <= inFlightBytesMax;
  }

  /** Sends the command and resolves with its result. Rejects with UNAVAILABLE or OUTCOME_UNKNOWN after `withinMs`. */
  write(requestId: RequestId, bytes: Uint8Array, withinMs: number): Promise<Result> {
    const { seq } = requestId;
    const { clock } = this.#parts;
    return new Promise((resolve, reject) => {
      this.#cancelDeadline ??= clock.after(deadlineMs, () => this.#giveUpLate());
      const deadline = clock.monotonicMs() + withinMs;
      const applied = (index: number, result: Result): void => void this.#appliedElsewhere(seq, index, result);
      const refused = (): void => this.#refused(seq);
      const proposal = { requestId, bytes, deadline, applied, refused };
      const delivery = new Delivery(this.#deliveryParts, proposal, this.#leader);
      this.#writes.set(seq, { requestId, bytes: bytes.length, resolve, reject, deadline, delivery });
      this.#bytes += bytes.length;
    });
  }

  /** This node has applied it. */
  answer(seq: number, result: Result): void {
    this.#take(seq)?.resolve(result);
  }

  leaderChanged(leader: Leader | 'self' | undefined, soleVoter: boolean): void {
    this.#leader = leader;
    this.#soleVoter = soleVoter;
    for (const { delivery } of this.#writes.values()) delivery.leaderChanged(leader);
  }

  /** Resolves when every write is answered. Called once, when no more are taken. */
  async answered(): Promise<void> {
    if (this.#writes.size > 0) await new Promise<void>((resolve) => (this.#emptied = resolve));
  }

  /** Refuses, after a failure, all commands about which the log has given its last answer. */
  refuseSettled(): void {
    for (const [seq, { delivery }] of [...this.#writes]) if (!delivery.isUnderWay) this.#giveUp(seq);
  }

  giveUpAll(): void {
    for (const seq of [...this.#writes.keys()]) this.#giveUp(seq);
  }

  /** Its own apply answers first, unless a checkpoint has jumped over the command. */
  async #appliedElsewhere(seq: number, index: number, result: Result): Promise<void> {
    await this.#parts.waiters.wait(index, deadlineMs).then(
      () => this.answer(seq, result),
      () => undefined,
    );
  }

  /** Another leader may have room; where there can be none, more attempts only keep the caller waiting. */
  #refused(seq: number): void {
    const delivery = this.#writes.get(seq)?.delivery;
    if (delivery === undefined || delivery.isUncertain) return;
    const isHopeless = delivery.reason.includes(otherTime) || (this.#soleVoter && delivery.reason === diskFull);
    if (isHopeless) this.#giveUp(seq);
  }

  #giveUpLate(): void {
    this.#cancelDeadline = undefined;
    const { clock } = this.#parts;
    const now = clock.monotonicMs();
    let nextMs = deadlineMs;
    for (const [seq, { deadline }] of [...this.#writes]) {
      const leftMs = Math.ceil(deadline - now);
      // A timer may be early by what times are rounded by.
      if (leftMs <= 1) this.#giveUp(seq);
      else nextMs = Math.min(nextMs, leftMs);
    }
    if (this.#writes.size > 0) this.#cancelDeadline ??= clock.after(nextMs, () => this.#giveUpLate());
  }

  #giveUp(seq: number): void {
    const pending = this.#take(seq);
    if (pending === undefined) return;
    const { delivery, requestId, reject } = pending;
    const failed = this.#parts.failed();
    if (delivery.isUncertain) reject(outcomeUnknown(failed ?? 'the write was not confirmed in time', requestId));
    else reject(new SluiceError('UNAVAILABLE', failed ?? delivery.reason));
  }

  #take(seq: number): Pending | undefined {
    const pending = this.#writes.get(seq);
    if (pending === undefined) return undefined;
    this.#writes.delete(seq);
    this.#bytes -= pending.bytes;
    pending.delivery.end();
    if (this.#writes.size > 0) return pending;
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
    this.#emptied();
    return pending;
  }
}

/** The requestId names the write in the log of this node's operator; it is not a secret. */
function outcomeUnknown(reason: string, { origin, incarnation, boot, seq }: RequestId): SluiceError {
  const requestId = [origin, incarnation, boot, seq].join('-');
  return new SluiceError('OUTCOME_UNKNOWN', reason, { body: { requestId, outcome: 'unknown' } });
}
