// A rollout on its way from one state to the next: events are noted, then it becomes what it will be.
import type { Overlay } from './overlay.ts';
import { eventsMax, type Rollout, type RolloutEvent, type RolloutEventKind } from './rollout.ts';

export class RolloutChange {
  readonly rollout: Rollout;
  readonly #state: Overlay;
  /** Log index of the command. */
  readonly index: number;
  #events: readonly RolloutEvent[];

  constructor(state: Overlay, rollout: Rollout, index: number) {
    this.#state = state;
    this.rollout = rollout;
    this.index = index;
    this.#events = rollout.events;
  }

  note(kind: RolloutEventKind, by: string | null, values: RolloutEvent['values'], guard: string | null = null): void {
    const at = new Date(this.#state.position.logTime).toISOString();
    this.#events = [...this.#events, { at, by, kind, guard, values }].slice(-eventsMax);
  }

  become(state: Rollout['state'], step = this.rollout.step): void {
    const epoch = this.index;
    this.#state.putRollout({ ...this.rollout, state, step, epoch, events: this.#events }, this.index);
  }
}
