// Linearizable reads at the leader. A read may show the state at the leader's commit index once a quorum has
// confirmed, in a heartbeat round that began after the read arrived, that this leader still leads.
// One round is in flight at a time; reads that arrive meanwhile share the next one.
import type { Index, MemberId } from './types.ts';

export interface PendingRead {
  readonly id: number;
  /** The member that asked; undefined for this node itself. */
  readonly from: MemberId | undefined;
}

interface Round {
  readonly number: number;
  readonly index: Index;
  readonly reads: readonly PendingRead[];
  readonly acks: Set<MemberId>;
}

export class ReadRounds {
  #last = 0;
  #round: Round | undefined;
  #waiting: PendingRead[] = [];

  /** Number of the round in flight, 0 when none is. */
  get current(): number {
    return this.#round?.number ?? 0;
  }

  get size(): number {
    return this.#waiting.length + (this.#round?.reads.length ?? 0);
  }

  add(read: PendingRead): void {
    this.#waiting.push(read);
  }

  /** Starts a round for all waiting reads. False: a round is in flight, or no read waits. */
  start(commit: Index): boolean {
    if (this.#round !== undefined || this.#waiting.length === 0) return false;
    this.#last += 1;
    this.#round = { number: this.#last, index: commit, reads: this.#waiting, acks: new Set() };
    this.#waiting = [];
    return true;
  }

  /** Returns the round once `isQuorum` accepts the members that confirmed it. */
  confirmed(by: MemberId, number: number, isQuorum: (has: (id: MemberId) => boolean) => boolean): Round | undefined {
    const round = this.#round;
    if (round === undefined || number !== round.number) return undefined;
    round.acks.add(by);
    if (!isQuorum((id) => round.acks.has(id))) return undefined;
    this.#round = undefined;
    return round;
  }

  /** Ends all rounds when this node stops leading: no read gets an answer that could be wrong. */
  abort(): PendingRead[] {
    const reads = [...(this.#round?.reads ?? []), ...this.#waiting];
    this.#round = undefined;
    this.#waiting = [];
    return reads;
  }
}
