// Check of B28 for one node: a node that does not hear its leader any more lets go of it, even while it waits for
// something else.
import type { Message } from '../../core/message.ts';
import type { MemberId } from '../../core/types.ts';
import type { SimNode } from './sim-node.ts';
import type { Fail } from './violation.ts';

/** Two seconds of a clock at half speed, and as much again for a vote that arrives twice; the rest is slack. */
const limitMs = 10_000;

/** Times at which an identity last heard each leader. */
interface Heard {
  readonly id: MemberId;
  readonly at: Map<MemberId, number>;
}

export class Patience {
  readonly #fail: Fail;
  readonly #now: () => number;
  /** By slot of the listener. */
  readonly #heard: (Heard | undefined)[] = [];

  constructor(fail: Fail, now: () => number) {
    this.#fail = fail;
    this.#now = now;
  }

  received(node: SimNode, { from, term, type }: Message): void {
    const isOfLeader = type === 'append' || type === 'heartbeat' || type === 'checkpointBegin';
    const state = node.driver?.inspect();
    if (isOfLeader && state !== undefined && term >= state.term) this.#heardBy(node).at.set(from, this.#now());
  }

  #heardBy({ id, slot }: SimNode): Heard {
    let heard = this.#heard[slot];
    if (heard?.id !== id) {
      heard = { id, at: new Map() };
      this.#heard[slot] = heard;
    }
    return heard;
  }

  /** A process that sleeps, or whose clock jumps, starts to wait anew. */
  touched(node: SimNode): void {
    const state = node.driver?.inspect();
    if (state?.leader === undefined || state.role === 'leader' || !node.isUp) return;
    const heardAt = this.#heardBy(node).at.get(state.leader) ?? 0;
    const since = Math.max(heardAt, node.pausedUntilMs, node.clockSetAt);
    if (this.#now() - since > limitMs)
      this.#fail('B28', `${node.id} holds on to ${state.leader}, unheard for ${Math.round(this.#now() - since)} ms`);
  }
}
