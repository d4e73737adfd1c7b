// Progress of a rollout while this node leads (fleet.md §7): a step ends when its time is over, enough was served and
// every guard holds; a guard that is false often enough in a row, or a proxy that refuses the candidate, ends it all.
// Only proposes. What it remembers is about the step under way, and a new leader begins that step anew.
import { type CelProgram, compileCel } from '../expression/cel/compiled-program.ts';
import type { GuardInput } from '../expression/cel/roots.ts';
import { ExpressionError } from '../expression/expression-error.ts';
import type { Draft, DriveRollout } from '../state/command.ts';
import { isShadow, type Rollout, shareOf } from '../state/rollout.ts';
import type { StateView } from '../state/view.ts';
import type { CountedRefusal, FleetFigures } from './fleet-figures.ts';
import type { LeaderController } from './leader-controllers.ts';

interface Step {
  readonly rollout: string;
  readonly epoch: number;
  /**
   * Begin of the step and time of the next check, on the monotonic clock: a wall clock that is set back would prolong
   * the step.
   */
  readonly beganAt: number;
  nextCheck: number;
  /** Checks in a row in which a guard was false. */
  failures: number;
}

interface Guard {
  readonly text: string;
  /** Undefined when it cannot be compiled here: it counts as false. */
  readonly program: CelProgram<GuardInput> | undefined;
}

type Drive = Omit<DriveRollout, 'v' | 'requestId' | 'time' | 'op' | 'id' | 'epoch'>;

export class RolloutController implements LeaderController {
  readonly name = 'a rollout';
  readonly #figures: FleetFigures;
  #step: Step | undefined;

  constructor(figures: FleetFigures) {
    this.#figures = figures;
  }

  leads(): void {
    this.#step = undefined;
  }

  due({ rollouts }: Pick<StateView, 'rollouts'>, _wallMs: number, nowMs: number): Draft | undefined {
    const rollout = rollouts.at(-1);
    if (rollout?.state !== 'running') {
      this.#step = undefined;
      return undefined;
    }
    const drive = this.#judge(rollout, this.#stepOf(rollout, nowMs), nowMs);
    return drive && { op: 'rollout', id: rollout.id, epoch: rollout.epoch, ...drive };
  }

  #stepOf({ id, epoch, plan }: Rollout, nowMs: number): Step {
    if (this.#step?.rollout === id && this.#step.epoch === epoch) return this.#step;
    this.#figures.begin(id, epoch);
    this.#step = { rollout: id, epoch, beganAt: nowMs, nextCheck: nowMs + plan.checkIntervalMs, failures: 0 };
    return this.#step;
  }

  #judge(rollout: Rollout, step: Step, nowMs: number): Drive | undefined {
    const { plan } = rollout;
    const input = this.#inputOf(rollout, nowMs - step.beganAt);
    const isShadowed = isShadow(plan.steps[rollout.step]);
    const requests = isShadowed ? input?.shadow.requests : input?.candidate.requests;
    const values = valuesOf(input, isShadowed);
    const measured = isShadowed && input !== undefined && { shadow: input.shadow };
    if (input !== undefined && input.proxies.refused > 0) {
      const refusals = this.#figures.refusals().slice(0, toldRefusals).map(shortened);
      return { action: 'fail', because: 'refused', values: { ...values, refusals }, ...measured };
    }
    const isCheck = nowMs >= step.nextCheck;
    if (isCheck) {
      step.nextCheck = nowMs + plan.checkIntervalMs;
      // Too few requests prove nothing; without any figures the candidate is not served on.
      const isJudged = requests === undefined || requests >= plan.minRequests;
      const broken = isJudged ? brokenGuard(rollout, input) : undefined;
      step.failures = broken === undefined ? 0 : step.failures + 1;
      if (broken !== undefined && step.failures >= plan.failures) {
        return { action: 'fail', because: 'guard failed', guard: broken, values, ...measured };
      }
    }
    const holdMs = plan.steps[rollout.step]?.holdMs ?? 0;
    const elapsedMs = nowMs - step.beganAt;
    const isServed = requests !== undefined && requests >= plan.minRequests;
    // Only a check lets a step end: what it saw holds at this moment.
    const isDone = step.failures === 0 && isServed && elapsedMs >= holdMs;
    if (isCheck && isDone) return { action: 'advance', ...measured };
    // What lacks nothing but the next check is not stalled, however near its hold maxStep is.
    if (isDone || elapsedMs < Math.max(plan.maxStepMs, holdMs)) return undefined;
    return { action: 'stall', values, ...measured };
  }

  #inputOf(rollout: Rollout, elapsedMs: number): GuardInput | undefined {
    const figures = this.#figures.figures();
    return figures && { ...figures, step: rollout.step, share: shareOf(rollout), elapsed: elapsedMs / 1000 };
  }
}

/** Refusals that an event names. */
const toldRefusals = 10;
const toldCharacters = 300;

const shortened = ({ proxy, problems }: CountedRefusal): CountedRefusal => ({
  proxy,
  problems: problems.map(({ pointer, message }) => ({ pointer, message: message.slice(0, toldCharacters) })),
});

/** The first guard that does not hold; without figures none does. */
function brokenGuard({ plan }: Rollout, input: GuardInput | undefined): string | undefined {
  const broken = guardsOf(plan.guards).find(
    ({ program }) => input === undefined || program === undefined || program.decide(input) !== true,
  );
  return broken?.text;
}

const compiled = new WeakMap<readonly string[], readonly Guard[]>();

/** Compiled once for a plan. */
function guardsOf(texts: readonly string[]): readonly Guard[] {
  const guards = compiled.get(texts) ?? texts.map(guardOf);
  compiled.set(texts, guards);
  return guards;
}

function guardOf(text: string): Guard {
  try {
    return { text, program: compileCel(text, 'guard', 'bool') };
  } catch (error) {
    if (error instanceof ExpressionError) return { text, program: undefined };
    throw error;
  }
}

/** Values of the guard for the operator, in the event. Steps without comparisons have none to tell. */
function valuesOf(input: GuardInput | undefined, isShadowed: boolean): Readonly<Record<string, unknown>> {
  if (input === undefined) return { figures: 'none' };
  const { shadow, ...others } = input;
  return isShadowed || shadow.requests > 0 ? { ...others, shadow } : others;
}
