// Controllers of the leader: they compare the agreed state with the time, and propose what is due. They know nothing
// beyond the state, so a new leader goes on where the old one stopped; and they change nothing by themselves, so two
// nodes that believe to lead do no harm: apply takes the first command and refuses the second.

import type { Draft, Result } from '../state/command.ts';
import type { StateView } from '../state/view.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';

export interface LeaderController {
  /** For the log: `a confirmation that did not come`. */
  readonly name: string;
  /**
   * Returns the command that is due now. Called again and again while this node leads, and never while its last
   * proposal is on its way.
   * @param nowMs wall clock, for times that the state holds; it may step
   * @param monotonicMs for durations
   */
  due(view: StateView, nowMs: number, monotonicMs: number): Draft | undefined;
  /** Called at every look, on nodes that do not lead too. */
  observe?(view: StateView, nowMs: number, monotonicMs: number): void;
  /** This node began to lead, or does not lead any more. */
  leads?(leading: boolean): void;
}

export interface LeaderControllersOptions {
  readonly log: { readonly leads: boolean; propose(draft: Draft): Promise<Result> };
  readonly view: StateView;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly controllers: readonly LeaderController[];
}

/** Interval at which the leader looks. */
const lookMs = 250;
/** After a proposal that came to nothing, such as one without a quorum. */
const retryMs = 1_000;

export class LeaderControllers {
  readonly #options: LeaderControllersOptions;
  readonly #underWay = new Set<LeaderController>();
  #cancel: Cancel = () => undefined;
  #leads = false;
  #ended = false;

  constructor(options: LeaderControllersOptions) {
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
    const { log, controllers, view, clock } = this.#options;
    for (const controller of controllers) controller.observe?.(view, clock.nowMs(), clock.monotonicMs());
    if (this.#leads !== log.leads) {
      this.#leads = log.leads;
      for (const controller of controllers) controller.leads?.(this.#leads);
    }
    if (!this.#leads) return;
    for (const controller of controllers) if (!this.#underWay.has(controller)) this.#run(controller);
  }

  #run(controller: LeaderController): void {
    const { log, view, logger, clock } = this.#options;
    const draft = controller.due(view, clock.nowMs(), clock.monotonicMs());
    if (draft === undefined) return;
    this.#underWay.add(controller);
    const { op, id } = draft;
    log.propose(draft).then(
      ({ status, error }) => {
        this.#underWay.delete(controller);
        const { failed, ...figures } = failureOf(draft) ?? {};
        if (failed === undefined) logger.info({ op, id, status, reason: error }, `${controller.name}: carried out`);
        else logger.warn({ op, id, status, reason: error, ...figures }, `${controller.name}: ${failed}`);
      },
      (error: unknown) => {
        clock.after(retryMs, () => this.#underWay.delete(controller));
        logger.warn({ op, id, err: error }, `${controller.name}: could not be carried out, tried again`);
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
