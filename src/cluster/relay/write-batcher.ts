// Writes that go to the leader together: those that a turn of the loop brings for one leader travel in one request, which
// is proven, sent and answered once, when the last of them is decided. Each keeps its own id, time and outcome. Nothing
// waits for the answer of another request, so a write that the leader keeps back holds up none that comes later.

import { relayedTogetherMax } from './relay-wire.ts';
import type { RelayOutcome, RelayRequest } from './relayed-write.ts';

export interface GatheredWritesParts {
  /** Runs what it is given once, after everything that this turn has brought. */
  readonly turnEnd: (run: () => void) => void;
  /** Sends one request: a single attempt that never rejects, as with `together`. */
  readonly alone: (request: RelayRequest) => Promise<RelayOutcome>;
  /** Two or more of one leader. An outcome for each, in their order. */
  readonly together: (requests: readonly RelayRequest[]) => Promise<readonly RelayOutcome[]>;
}

interface Waiting {
  readonly request: RelayRequest;
  readonly resolve: (outcome: RelayOutcome) => void;
}

/** Longer commands go alone: what a request costs is little beside them. */
export const longestGathered = 16 * 1024;

/** Bytes of commands in one request: the leader looks at all of them in the turn that brings them. */
const gatheredBytesMax = 256 * 1024;

export class GatheredWrites {
  readonly #parts: GatheredWritesParts;
  /** Requests of this turn, by the address of their leader. */
  readonly #turn = new Map<string, Waiting[]>();

  constructor(parts: GatheredWritesParts) {
    this.#parts = parts;
  }

  send(request: RelayRequest): Promise<RelayOutcome> {
    return new Promise((resolve) => {
      const { address } = request.leader;
      const isFirst = this.#turn.size === 0;
      const waiting = this.#turn.get(address);
      if (waiting === undefined) this.#turn.set(address, [{ request, resolve }]);
      else waiting.push({ request, resolve });
      if (isFirst) this.#parts.turnEnd(() => this.#endTurn());
    });
  }

  #endTurn(): void {
    const all = [...this.#turn.values()];
    this.#turn.clear();
    for (const waiting of all) {
      let from = 0;
      let bytes = 0;
      for (const [at, { request }] of waiting.entries()) {
        bytes += request.command.length;
        if (at - from < relayedTogetherMax && (bytes <= gatheredBytesMax || at === from)) continue;
        void this.#go(waiting.slice(from, at));
        from = at;
        bytes = request.command.length;
      }
      void this.#go(waiting.slice(from));
    }
  }

  async #go(waiting: readonly Waiting[]): Promise<void> {
    const [first] = waiting;
    if (first === undefined) return;
    if (waiting.length === 1) {
      first.resolve(await this.#parts.alone(first.request));
      return;
    }
    const outcomes = await this.#parts.together(waiting.map(({ request }) => request));
    for (const [at, { resolve }] of waiting.entries()) {
      resolve(outcomes[at] ?? { outcome: 'unknown', reason: 'the leader did not say what became of the write' });
    }
  }
}
