// A rollout on its way from one state to the next: events are noted, then it becomes what it will be.
import type { RolloutEvent, ShadowCounts } from '../model/answers/rollout-answers.ts';
import type { Overlay } from './overlay.ts';
import { eventsMax, type Rollout } from './rollout.ts';

export class RolloutChange {
  readonly rollout: Rollout;
  readonly #state: Overlay;
  /** Log index of the command. */
  readonly index: number;
  #events: readonly RolloutEvent[];
  #shadows: Rollout['shadows'];

  constructor(state: Overlay, rollout: Rollout, index: number) {
    this.#state = state;
    this.rollout = rollout;
    this.index = index;
    this.#events = rollout.events;
    this.#shadows = rollout.shadows;
  }

  note(
    kind: RolloutEvent['kind'],
    by: string | null,
    values: RolloutEvent['values'],
    guard: string | null = null,
  ): void {
    const at = new Date(this.#state.position.logTime).toISOString();
    this.#events = [...this.#events, { at, by, kind, guard, values }].slice(-eventsMax);
  }

  /** Records the counts of the shadow step under way, in place of those of an earlier run of it. */
  measured(counts: ShadowCounts): void {
    const { step } = this.rollout;
    this.#shadows = [...(this.#shadows ?? []).filter((each) => each.step !== step), { step, counts }];
  }

  become(state: Rollout['state'], step = this.rollout.step): void {
    const epoch = this.index;
    const changed = { ...this.rollout, state, step, epoch, events: this.#events };
    this.#state.putRollout(this.#shadows === undefined ? changed : { ...changed, shadows: this.#shadows }, this.index);
  }
}
