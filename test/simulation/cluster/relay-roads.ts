// HTTP between the nodes, as the relay sees it: one attempt that is answered, refused, or not heard of again. A request
// may arrive more than once, even to a later life of its receiver.

import type { Chance } from '../../../raft/testing/sim/chance.ts';
import type { ProgramWorld } from '../../../raft/testing/sim/program.ts';
import type { LeaderCall, LeaderConnections, LeaderReply } from '../../../src/cluster/relay/leader-connections.ts';
import type { RelayAnswer } from '../../../src/cluster/relay/relay-server.ts';
import type { NodeProcess } from './node-process.ts';
import type { ProcessLife } from './process-life.ts';

const connectTimeoutMs = 500;

export const apiAddressOf = (slot: number): string => `n${slot + 1}:8080`;
const slotAt = (address: string): number => Number(address.slice(1, address.indexOf(':'))) - 1;

export class RelayRoads {
  readonly #world: ProgramWorld;
  readonly #chance: Chance;
  readonly #processAt: (slot: number) => NodeProcess | undefined;
  /** Share of the requests that arrive once more, perhaps long after. */
  readonly #repeatShare: number;
  calls = 0;
  repeated = 0;

  constructor(world: ProgramWorld, chance: Chance, processAt: (slot: number) => NodeProcess | undefined) {
    this.#world = world;
    this.#chance = chance;
    this.#processAt = processAt;
    this.#repeatShare = chance.happens(0.5) ? chance.between(0.02, 0.3) : 0;
  }

  /** Returns the connections of a process to the others. */
  from(slot: number, caller: ProcessLife): Pick<LeaderConnections, 'call'> {
    return { call: (call) => new Promise((resolve) => this.#call(slot, caller, call, resolve)) };
  }

  #call(slot: number, caller: ProcessLife, call: LeaderCall, resolve: (reply: LeaderReply) => void): void {
    this.calls += 1;
    let isOver = false;
    const end = (reply: LeaderReply, ms = 0): void =>
      caller.later(ms, () => {
        if (!isOver) resolve(reply);
        isOver = true;
      });
    end({ is: 'lost', sent: true, reason: 'the leader did not answer in time' }, call.withinMs);
    const to = slotAt(call.address);
    const [arrival, ...again] = this.#world.network.arrivals(slot, to);
    if (arrival === undefined) {
      // The request is lost on the way out: before the connection is made, or after.
      if (this.#chance.happens(0.5)) end({ is: 'lost', sent: false, reason: 'no connection' }, connectTimeoutMs);
      return;
    }
    const delivery = new Delivery();
    const answer = (reply: LeaderReply): void => {
      delivery.ended(reply);
      const [back] = this.#world.network.arrivals(to, slot);
      if (back !== undefined) this.#world.at(back, slot, () => end(reply));
    };
    this.#world.at(arrival, to, () => this.#arrive(to, call, answer));
    if (this.#chance.happens(this.#repeatShare)) again.push(this.#world.now() + this.#chance.between(50, 40_000));
    for (const at of again) this.#world.at(at, to, () => this.#repeat(to, call, delivery));
  }

  #arrive(to: number, call: LeaderCall, answer: (reply: LeaderReply) => void): void {
    const process = this.#processAt(to);
    if (process === undefined) {
      answer({ is: 'lost', sent: false, reason: 'connection refused' });
      return;
    }
    const forget = process.life.onEnd(() => answer({ is: 'lost', sent: true, reason: 'connection reset' }));
    process.serve(call, ({ status, body }: RelayAnswer) => {
      forget();
      answer({ is: 'answered', status, body: Buffer.from(body) });
    });
  }

  #repeat(to: number, call: LeaderCall, { isRepeatable }: Delivery): void {
    const process = isRepeatable ? this.#processAt(to) : undefined;
    if (process === undefined) return;
    this.repeated += 1;
    process.serve(call, () => undefined);
  }
}

/**
 * Outcome of a request at its first arrival. A refused request does not arrive again: no connection repeats bytes by
 * itself, and a client that was told that nothing was done would have been told wrong.
 */
class Delivery {
  isRepeatable = false;

  ended(reply: LeaderReply): void {
    this.isRepeatable = 'sent' in reply ? reply.sent : reply.status === 200 || reply.status === 504;
  }
}
