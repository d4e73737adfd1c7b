// Statistics of a member since its start, for metrics (raft.md A22). Plain numbers: a copy of them crosses the thread
// border with each status, and nothing of the protocol depends on them.
import type { CoreEvent } from '../core/output.ts';
import type { MemberId } from '../core/types.ts';

/** A histogram: `counts[i]` values were at most `bounds[i]` and above the bound before; the last count has no bound. */
export interface Durations {
  /** Seconds, ascending. */
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  /** Seconds. */
  readonly sum: number;
}

export interface MemberCounts {
  /** Synced writes of the log, from the call to the answer of the disk. */
  readonly syncs: Durations;
  /** By how much ticks of the raft worker came late. */
  readonly loopLag: Durations;
  /** Counts of pre-votes and campaigns that this node began, and of elections that it won. */
  readonly elections: { readonly preVotes: number; readonly campaigns: number; readonly won: number };
  /** Count of changes of the known leader. */
  readonly leaderChanges: number;
  /** Checkpoints to peers that were begun, those that failed, and those of others that were installed here. */
  readonly transfers: { readonly begun: number; readonly failed: number; readonly installed: number };
}

const boundsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

class DurationTally {
  readonly #counts = new Array<number>(boundsSeconds.length + 1).fill(0);
  #sum = 0;

  add(ms: number): void {
    const seconds = Math.max(0, ms) / 1000;
    const at = boundsSeconds.findIndex((bound) => seconds <= bound);
    const bucket = at < 0 ? boundsSeconds.length : at;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
  }

  get durations(): Durations {
    return { bounds: boundsSeconds, counts: [...this.#counts], sum: this.#sum };
  }
}

export class MemberStats {
  readonly #syncs = new DurationTally();
  readonly #loopLag = new DurationTally();
  readonly #elections = { preVotes: 0, campaigns: 0, won: 0 };
  readonly #transfers = { begun: 0, failed: 0, installed: 0 };
  #leaderChanges = 0;
  #leader: MemberId | undefined;

  get counts(): MemberCounts {
    return {
      syncs: this.#syncs.durations,
      loopLag: this.#loopLag.durations,
      elections: { ...this.#elections },
      leaderChanges: this.#leaderChanges,
      transfers: { ...this.#transfers },
    };
  }

  synced(ms: number): void {
    this.#syncs.add(ms);
  }

  ticked(lateMs: number): void {
    this.#loopLag.add(lateMs);
  }

  transfer(event: keyof MemberCounts['transfers']): void {
    this.#transfers[event] += 1;
  }

  happened(event: CoreEvent): void {
    if (event.type === 'elected') this.#elections.won += 1;
    if (event.type !== 'role') return;
    const { role, leader } = event;
    if (role === 'preCandidate') this.#elections.preVotes += 1;
    if (role === 'candidate') this.#elections.campaigns += 1;
    if (leader === undefined || leader === this.#leader) return;
    this.#leader = leader;
    this.#leaderChanges += 1;
  }
}
