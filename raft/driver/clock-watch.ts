// Watch over the wall clocks of the members, which tell them in heartbeats and in answers to candidates (raft.md A23): how far
// each is from the others, and which time a leader may stamp. Monotonic time carries what was heard on until it is heard again.
import type { Message } from '../core/message.ts';
import type { Config, MemberId } from '../core/types.ts';
import type { Clock } from './driver-clock.ts';

/** Difference to the median of the voters' clocks above which a node does not stay leader, and log time runs no further ahead. */
export const clockLimitMs = 30_000;
/** Age of a told time above which it counts no more: the clock may have been set since. */
const heardWithinMs = 10_000;
const slewShare = 0.5;

interface Told {
  /** Wall clock less monotonic time of this node, when it was told. */
  readonly ahead: number;
  readonly atMs: number;
}

export class ClockWatch {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly #id: MemberId;
  readonly #told = new Map<MemberId, Told>();
  #stampedAt: number | undefined;

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>, id: MemberId) {
    this.#clock = clock;
    this.#id = id;
  }

  /** Returns the message with the time of this node where it is of a type that tells it. */
  stamped(message: Message): Message {
    if (!tellsClock(message)) return message;
    return { ...message, clock: this.#clock.nowMs() };
  }

  hear(message: Message): void {
    if (!tellsClock(message) || message.clock === undefined) return;
    const atMs = this.#clock.monotonicMs();
    this.#told.set(message.from, { ahead: message.clock - atMs, atMs });
  }

  /** Milliseconds that the clock of each member is ahead of this node's; members that were heard lately. */
  offsets({ members }: Pick<Config, 'members'>): Readonly<Record<MemberId, number>> {
    const now = this.#clock.monotonicMs();
    const own = this.#clock.nowMs();
    for (const id of this.#told.keys()) if (!members.some((member) => member.id === id)) this.#told.delete(id);
    const current = [...this.#told].filter(([, { atMs }]) => now - atMs <= heardWithinMs);
    return Object.fromEntries(current.map(([id, { ahead }]) => [id, Math.round(ahead + now - own)]));
  }

  /**
   * Milliseconds that the median of the voters' clocks is ahead of this node's. Undefined without a majority of them. Of
   * two medians the one nearer to this node counts: where half the clocks agree with it nothing proves it wrong.
   */
  median(config: Pick<Config, 'voters' | 'members'>): number | undefined {
    const [low, high] = mediansAhead(this.#id, config.voters, this.offsets(config));
    return low === undefined || high === undefined || Math.abs(low) <= Math.abs(high) ? low : high;
  }

  /** Time of the next entry, Unix milliseconds. Where the log is ahead it goes at half the speed of time until it is not. */
  logTime(config: Pick<Config, 'voters' | 'members'>, lastTime: number): number {
    const now = this.#clock.monotonicMs();
    const passed = now - (this.#stampedAt ?? now);
    this.#stampedAt = now;
    const own = this.#clock.nowMs();
    const median = this.median(config);
    const time = median === undefined ? own : Math.min(own, own + median + clockLimitMs);
    return time >= lastTime ? time : lastTime + Math.floor(passed * slewShare);
  }
}

/**
 * Milliseconds that the median of the voters' clocks is ahead of that of `id`, whose view the offsets are: two medians, the lower
 * first, of an even number of clocks; none without a majority of them.
 */
export function mediansAhead(
  id: MemberId,
  voters: readonly MemberId[],
  offsets: Readonly<Record<MemberId, number>>,
): readonly number[] {
  const all = { ...offsets, [id]: 0 };
  const known = voters.flatMap((voter) => all[voter] ?? []).sort((a, b) => a - b);
  if (known.length * 2 <= voters.length) return [];
  return known.slice((known.length - 1) >> 1, (known.length >> 1) + 1);
}

type Telling = Extract<Message, { clock?: number }>;

const telling: ReadonlySet<Message['type']> = new Set<Telling['type']>([
  'preVoteResp',
  'voteResp',
  'heartbeat',
  'heartbeatResp',
]);

const tellsClock = (message: Message): message is Telling => telling.has(message.type);
