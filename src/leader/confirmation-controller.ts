// An activation that had to be confirmed and was not: when its time is over, what was live before it becomes live again
// (fleet.md §6). Each node measures the time by its own monotonic clock from when it saw the activation, so that the next
// leader goes on with what is left, however the wall clocks are set. A node that was away meanwhile goes on with what it
// measured before, and for the rest by wall clocks: its own and that of the cluster.
import type { Draft } from '../state/command.ts';
import type { StateView } from '../state/view.ts';
import type { LeaderController } from './leader-controllers.ts';

type Seen = Pick<StateView, 'pending' | 'activations'>;

/** Measure of one activation by one node, as it outlives the process. */
export interface MeasuredTime {
  /** Log index of the activation. */
  readonly index: number;
  readonly passedMs: number;
  /** Wall clocks at that time, Unix milliseconds: the node's, then the cluster's. */
  readonly clocksMs: readonly number[];
}

export interface ConfirmationOptions {
  /** Milliseconds that the clock of the cluster is ahead of this node's: two where it may be either, none while that is not known. */
  readonly aheadMs: () => readonly number[];
  readonly memory: { readonly last: MeasuredTime | undefined; write(measured: MeasuredTime): void };
}

interface Measure {
  readonly index: number;
  readonly allottedMs: number;
  /** Monotonic; of the first sight. */
  readonly seenMs: number;
  /** Milliseconds that had passed at the first sight; undefined while that is not known. */
  beforeMs: number | undefined;
}

const saveEveryMs = 1_000;
/** Time after a leader is known again in which an activation may be older than its first sight; at a start that is the first look. */
const catchUpMs = 3_000;
/** Time for which a leader waits to be told the clocks of others. */
const waitForClocksMs = 5_000;

export class ConfirmationController implements LeaderController {
  readonly name = 'a confirmation that did not come';
  readonly #options: ConfirmationOptions;
  #measure: Measure | undefined;
  #isFirstLook = true;
  /** Monotonic; endless while the clock of the cluster is not known any more. */
  #catchesUpUntilMs = Number.NEGATIVE_INFINITY;
  #knewClock = false;
  #savedMs = 0;
  #ledSinceMs: number | undefined;

  constructor(options: ConfirmationOptions) {
    this.#options = options;
  }

  observe({ pending, activations }: Seen, nowMs: number, monotonicMs: number): void {
    const aheadMs = this.#options.aheadMs();
    const catchesUp = this.#catchesUp(aheadMs.length > 0, monotonicMs);
    if (pending === undefined) return;
    const activation = activations.findLast(({ index }) => index === pending.index);
    const beganMs = activation === undefined ? pending.deadline : Date.parse(activation.at);
    if (this.#measure?.index !== pending.index) {
      this.#measure = {
        index: pending.index,
        allottedMs: pending.deadline - beganMs,
        seenMs: monotonicMs,
        beforeMs: catchesUp ? undefined : 0,
      };
    }
    const measure = this.#measure;
    const clocksMs = [0, ...aheadMs].map((each) => nowMs + each);
    const isLedLong = this.#ledSinceMs !== undefined && monotonicMs - this.#ledSinceMs >= waitForClocksMs;
    if (measure.beforeMs === undefined && (aheadMs.length > 0 || isLedLong)) {
      const passedMs = this.#passed(measure.index, beganMs, clocksMs) - (monotonicMs - measure.seenMs);
      measure.beforeMs = Math.min(Math.max(0, passedMs), measure.allottedMs);
    }
    this.#save(measure, monotonicMs, clocksMs);
  }

  /** Returns whether the time of that activation is over, as this node measured it; false where it has not seen it yet. */
  isOver(index: number, monotonicMs: number): boolean {
    const measure = this.#measure;
    if (measure?.index !== index || measure.beforeMs === undefined) return false;
    return monotonicMs - measure.seenMs >= measure.allottedMs - measure.beforeMs;
  }

  due(view: StateView, nowMs: number, monotonicMs: number): Draft | undefined {
    this.#ledSinceMs ??= monotonicMs;
    this.observe(view, nowMs, monotonicMs);
    const { pending } = view;
    if (pending === undefined || !this.isOver(pending.index, monotonicMs)) return undefined;
    return { op: 'revert', id: pending.snapshotId, activation: pending.index };
  }

  leads(leading: boolean): void {
    if (!leading) this.#ledSinceMs = undefined;
  }

  /** Returns whether what this look shows may be older than it. */
  #catchesUp(knowsClock: boolean, monotonicMs: number): boolean {
    const isFirstLook = this.#isFirstLook;
    this.#isFirstLook = false;
    if (knowsClock) this.#catchesUpUntilMs = Math.min(this.#catchesUpUntilMs, monotonicMs + catchUpMs);
    else if (this.#knewClock) this.#catchesUpUntilMs = Number.POSITIVE_INFINITY;
    this.#knewClock ||= knowsClock;
    return isFirstLook || monotonicMs < this.#catchesUpUntilMs;
  }

  /** Milliseconds since the activation: from what this node measured before it was away, or by the clock of the cluster alone. */
  #passed(index: number, beganMs: number, clocksMs: readonly number[]): number {
    const { last } = this.#options.memory;
    const [ownMs = 0, ...clusterMs] = clocksMs;
    if (last?.index !== index) return (clusterMs.length > 0 ? Math.min(...clusterMs) : ownMs) - beganMs;
    return last.passedMs + shortest(clocksMs, last.clocksMs);
  }

  #save({ index, seenMs, beforeMs }: Measure, monotonicMs: number, clocksMs: readonly number[]): void {
    const { memory } = this.#options;
    const isSaved = memory.last?.index === index && monotonicMs - this.#savedMs < saveEveryMs;
    if (beforeMs === undefined || isSaved) return;
    this.#savedMs = monotonicMs;
    memory.write({ index, passedMs: beforeMs + monotonicMs - seenMs, clocksMs });
  }
}

/** Shortest time from one of `from` to one of `to`: a clock that is far off makes it negative, or longer than the others do. */
function shortest(to: readonly number[], from: readonly number[]): number {
  const times = to.flatMap((end) => from.map((start) => end - start)).filter((ms) => ms >= 0);
  return times.length === 0 ? 0 : Math.min(...times);
}
