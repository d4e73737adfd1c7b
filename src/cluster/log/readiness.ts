// Readiness: this node may get traffic once it knows the leader and has shown all that was acknowledged before it
// started (architecture.md §7.9). Liveness does not depend on it.
import type { Clock } from '../../util/clock.ts';
import type { ClusterWatch } from '../members/cluster-watch.ts';
import type { Proposer } from './proposer.ts';

export interface ReadinessParts {
  readonly log: Pick<Proposer, 'readBarrier' | 'hasLeader' | 'behind'>;
  readonly watch: Pick<ClusterWatch, 'why'>;
  readonly clock: Clock;
}

const retryMs = 100;

export class ClusterReadiness {
  /** Resolves when `ready` is true for the first time. */
  readonly whenReady: Promise<void>;
  readonly #parts: ReadinessParts;
  #caughtUp = false;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
    this.whenReady = new Promise((resolve) => this.#catchUp(resolve));
  }

  get ready(): boolean {
    return this.#caughtUp && this.#parts.log.hasLeader;
  }

  /** Reason why it is not ready, in words for an operator. */
  get reason(): string | undefined {
    if (this.ready) return undefined;
    const { log, watch } = this.#parts;
    if (watch.why !== undefined) return watch.why;
    const { behind } = log;
    if (!log.hasLeader) return 'no leader is known';
    return behind === undefined
      ? 'not caught up: the leader has not said yet how far'
      : `not caught up: ${behind.applied} of ${behind.asked} log entries are applied`;
  }

  #catchUp(done: () => void): void {
    const { log, clock } = this.#parts;
    log.readBarrier().then(
      () => {
        this.#caughtUp = true;
        done();
      },
      () => clock.after(retryMs, () => this.#catchUp(done)),
    );
  }
}
