// Duties of the leader, done without being asked: looks at the agreed state and at the time, and proposes what is due.
// It knows nothing that the state does not, so a new leader goes on where the old one stopped; and it changes nothing
// by itself, so two that believe to lead do no harm: apply takes the first command and refuses the second.

import type { Draft, Result } from '../state/command.ts';
import type { StateView } from '../state/view.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';

export interface Duty {
  /** For the log: `a confirmation that did not come`. */
  readonly name: string;
  /**
   * Returns the command that is due now. Called again and again while this node leads, and never while its last
   * proposal is on its way.
   * @param nowMs wall clock, for times that the state holds; it may step
   * @param monotonicMs for durations
   */
  due(view: StateView, nowMs: number, monotonicMs: number): Draft | undefined;
  /** This node began to lead, or does not lead any more. */
  leads?(leading: boolean): void;
}

export interface LeaderDutiesOptions {
  readonly log: { readonly leads: boolean; propose(draft: Draft): Promise<Result> };
  readonly view: StateView;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly duties: readonly Duty[];
}

/** Interval at which the leader looks. */
const lookMs = 250;
/** After a proposal that came to nothing, such as one without a quorum. */
const retryMs = 1_000;

export class LeaderDuties {
  readonly #options: LeaderDutiesOptions;
  readonly #underWay = new Set<Duty>();
  #cancel: Cancel = () => undefined;
  #leads = false;
  #ended = false;

  constructor(options: LeaderDutiesOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#ended) return;
    this.#cancel = this.#options.clock.after(lookMs, () => {
      this.#look();
      this.start();
    });
  }

  /** Nothing is proposed from now on. */
  end(): void {
    this.#ended = true;
    this.#cancel();
  }

  #look(): void {
    const { log, duties } = this.#options;
    if (this.#leads !== log.leads) {
      this.#leads = log.leads;
      for (const duty of duties) duty.leads?.(this.#leads);
    }
    if (!this.#leads) return;
    for (const duty of duties) if (!this.#underWay.has(duty)) this.#attend(duty);
  }

  #attend(duty: Duty): void {
    const { log, view, logger, clock } = this.#options;
    const draft = duty.due(view, clock.nowMs(), clock.monotonicMs());
    if (draft === undefined) return;
    this.#underWay.add(duty);
    const { op, id } = draft;
    log.propose(draft).then(
      ({ status, error }) => {
        this.#underWay.delete(duty);
        const { failed, ...figures } = failureOf(draft) ?? {};
        if (failed === undefined) logger.info({ op, id, status, reason: error }, `${duty.name}: carried out`);
        else logger.warn({ op, id, status, reason: error, ...figures }, `${duty.name}: ${failed}`);
      },
      (error: unknown) => {
        clock.after(retryMs, () => this.#underWay.delete(duty));
        logger.warn({ op, id, err: error }, `${duty.name}: could not be carried out, tried again`);
      },
    );
  }
}

/** Words and figures for a rollout that the fleet failed; undefined for every other proposal. */
function failureOf(draft: Draft): { readonly failed?: string; readonly [figure: string]: unknown } | undefined {
  if (draft.op !== 'rollout' || draft.action !== 'fail') return undefined;
  const { because, guard, values } = draft;
  return { failed: because === 'refused' ? 'a proxy refuses the candidate' : 'a guard failed', guard, values };
}
