// Clock of the cluster as a node knows it: at the leader the median of the voters' clocks, elsewhere its own or that of the leader
// (raft.md A23).
import { type MemberStatus, mediansAhead } from '../../../raft/index.ts';
import type { Clock } from '../../util/clock.ts';
import type { Cluster } from './cluster.ts';

export interface ClusterClockOptions {
  readonly cluster: Pick<Cluster, 'clustered' | 'status'>;
  readonly log: { readonly hasLeader: boolean };
  readonly clock: Clock;
}

interface Told {
  readonly atMs: number;
  /** Clocks of the cluster less monotonic time of this node: a step of its wall clock changes nothing. */
  readonly ahead: readonly number[];
}

const nothingTold: Told = { atMs: 0, ahead: [] };
const askEveryMs = 1_000;
/** Age of an answer above which it counts no more. */
const currentMs = 5_000;

export class ClusterClock {
  readonly #options: ClusterClockOptions;
  #told = nothingTold;
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ClusterClockOptions) {
    this.#options = options;
  }

  /**
   * Milliseconds that it is ahead of this node's. Two where half the known clocks may disagree with the others; none while no leader is known, or
   * no clock was told. Asks anew meanwhile.
   */
  get aheadMs(): readonly number[] {
    const { cluster, log, clock } = this.#options;
    if (!cluster.clustered) return [0];
    const now = clock.monotonicMs();
    if (now - this.#askedMs >= askEveryMs) {
      this.#askedMs = now;
      void this.#ask();
    }
    const { ahead, atMs } = this.#told;
    if (!log.hasLeader || now - atMs >= currentMs) return [];
    return ahead.map((each) => each + now - clock.nowMs());
  }

  async #ask(): Promise<void> {
    const { cluster, clock } = this.#options;
    const status = await cluster.status().catch(() => undefined);
    if (status === undefined) return;
    const atMs = clock.monotonicMs();
    this.#told = { atMs, ahead: aheadOf(status).map((aheadMs) => clock.nowMs() + aheadMs - atMs) };
  }
}

type Known = Pick<MemberStatus, 'id' | 'role' | 'leader' | 'config' | 'clockOffsets'>;

/** Milliseconds that the clock of the cluster is ahead of that node's; see `ClusterClock.aheadMs`. A follower knows two clocks. */
export function aheadOf({ id, role, leader, config, clockOffsets }: Known): readonly number[] {
  if (role === 'leader') return [...new Set(mediansAhead(id, config.voters, clockOffsets))];
  const offset = leader === undefined ? undefined : clockOffsets[leader];
  return offset === undefined ? [] : [...new Set([offset, 0])];
}
