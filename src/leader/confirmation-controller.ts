// An activation that had to be confirmed and was not: when its time is over, what was live before it becomes live again
// (fleet.md §6). Each node measures the time by its own monotonic clock from when it saw the activation, so that the next
// leader goes on with what is left, however the wall clocks are set. A node that starts meanwhile has only those to go by.
import type { Draft } from '../state/command.ts';
import type { StateView } from '../state/view.ts';
import type { LeaderController } from './leader-controllers.ts';

type Seen = Pick<StateView, 'pending' | 'activations'>;

export class ConfirmationController implements LeaderController {
  readonly name = 'a confirmation that did not come';
  /** Monotonic milliseconds at which the time of that activation is over. */
  #end: { readonly index: number; readonly ms: number } | undefined;
  #hasLooked = false;

  observe({ pending, activations }: Seen, nowMs: number, monotonicMs: number): void {
    const isRestart = !this.#hasLooked;
    this.#hasLooked = true;
    if (pending === undefined || this.#end?.index === pending.index) return;
    const activation = activations.findLast(({ index }) => index === pending.index);
    const allottedMs = activation === undefined ? 0 : pending.deadline - Date.parse(activation.at);
    const passedMs = isRestart ? allottedMs - (pending.deadline - nowMs) : 0;
    const leftMs = Math.min(Math.max(0, allottedMs - passedMs), allottedMs);
    this.#end = { index: pending.index, ms: monotonicMs + leftMs };
  }

  /** Returns whether the time of that activation is over, as this node measured it; false where it has not seen it yet. */
  isOver(index: number, monotonicMs: number): boolean {
    return this.#end?.index === index && monotonicMs >= this.#end.ms;
  }

  due(view: StateView, nowMs: number, monotonicMs: number): Draft | undefined {
    this.observe(view, nowMs, monotonicMs);
    const { pending } = view;
    if (pending === undefined || this.#end === undefined || monotonicMs < this.#end.ms) return undefined;
    return { op: 'revert', id: pending.snapshotId, activation: pending.index };
  }
}
