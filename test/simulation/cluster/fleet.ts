// The proxies of the simulated cluster, as far as the leader hears of them: reports get lost, candidates are good or bad,
// some proxy refuses one now and then. Watches that no controller of a leader concludes what its reports do not say.
import type { Chance } from '../../../raft/testing/sim/chance.ts';
import type { FleetFigures, StepFigures } from '../../../src/leader/fleet-figures.ts';
import { noShadow } from '../../../src/model/shadow.ts';
import type { Draft } from '../../../src/state/command.ts';
import type { Rollout, RolloutPlan } from '../../../src/state/rollout.ts';
import { isServing, isUnderWay } from '../../../src/state/rollout.ts';
import type { StateView } from '../../../src/state/view.ts';

const side = (requests: number, errorRate: number): StepFigures['candidate'] => {
  const serverErrors = requests * errorRate;
  return {
    requests,
    serverErrors,
    clientErrors: 0,
    proxyErrors: 0,
    errorRate,
    p50Ms: 1,
    p95Ms: 2,
    p99Ms: 3,
    meanMs: 1,
  };
};

/** Short enough that rollouts begin and end within a run. */
export function rolloutPlan(chance: Chance): RolloutPlan {
  const lastMs = chance.happens(0.5) ? 0 : 500;
  const by = chance.happens(0.5) ? 'client' : 'proxy';
  const failures = 1 + chance.below(3);
  const onFail = chance.happens(0.7) ? 'rollback' : 'pause';
  const deadmanMs = chance.pick([1_500, 5_000, 60_000]);
  const serving = [
    { share: 5, holdMs: 500 },
    { share: 40, holdMs: 1_000 },
    { share: 100, holdMs: lastMs },
  ];
  // By what is drawn anyway: further draws would change every run.
  const shadow = deadmanMs === 5_000 ? [{ shadow: true, holdMs: 500 } as const] : [];
  const isAlone = shadow.length > 0 && failures === 1;
  return {
    steps: isAlone ? shadow : [...shadow, ...serving],
    by,
    key: { clientIp: true },
    guards: ['candidate.errorRate <= stable.errorRate + 0.01', 'shadow.lost == 0.0 && shadow.rejectedLess == 0.0'],
    minRequests: 20,
    checkIntervalMs: 250,
    failures,
    onFail,
    deadmanMs,
    maxStepMs: 10_000,
  };
}

/** One for each process: its controller may conclude from its latest figures alone. */
export class SimFleet implements FleetFigures {
  readonly #chance: Chance;
  readonly #fail: (rule: string, detail: string) => void;
  readonly #isShadowed: () => boolean;
  #last: StepFigures | undefined;
  /** Bad candidates stay bad for a while. */
  #badLeft = 0;

  /** @param isShadowed the step under way is a shadow step */
  constructor(chance: Chance, fail: (rule: string, detail: string) => void, isShadowed: () => boolean) {
    this.#chance = chance;
    this.#fail = fail;
    this.#isShadowed = isShadowed;
  }

  begin(): void {
    this.#last = undefined;
  }

  refusals(): [] {
    return [];
  }

  figures(): StepFigures | undefined {
    this.#badLeft = this.#badLeft > 0 ? this.#badLeft - 1 : this.#chance.happens(0.02) ? 1 + this.#chance.below(12) : 0;
    const requests = this.#chance.happens(0.2) ? 5 : 100;
    const refused = this.#chance.happens(0.002) ? 1 : 0;
    const isBad = this.#badLeft > 0;
    const isShadowed = this.#isShadowed();
    const figures: StepFigures = {
      // A candidate that serves no client has no requests, and no errors either.
      candidate: isShadowed ? side(0, 0) : side(requests, isBad ? 0.5 : 0),
      stable: side(1_000, 0),
      proxies: { total: 3, installed: 3 - refused, refused },
      mirror: { compared: 0, mismatchShare: 0 },
      shadow: isShadowed ? { ...noShadow, requests, lost: isBad ? 1 : 0 } : noShadow,
    };
    this.#last = this.#chance.happens(0.1) ? undefined : figures;
    return this.#last;
  }

  /** R2: no step ends while a guard is false, too little was served or compared, or a proxy refuses. */
  concluded(draft: Draft): void {
    if (draft.op !== 'rollout' || draft.action !== 'advance') return;
    const { candidate, shadow, proxies } = this.#last ?? {};
    const requests = (draft.shadow === undefined ? candidate : shadow)?.requests ?? 0;
    const holds = candidate?.errorRate === 0 && shadow?.lost === 0;
    if (holds && requests >= 20 && proxies?.refused === 0) return;
    this.#fail('R2', `a step ends although the reports say ${JSON.stringify(this.#last)}`);
  }
}

/** Rules that every state keeps; `epochs` remembers the share of each rollout that was seen before. */
export class RolloutRules {
  readonly #seen = new Map<string, Pick<Rollout, 'state' | 'epoch'>>();

  check(nodeId: string, view: StateView, fail: (rule: string, detail: string) => void): void {
    const underWay = view.rollouts.filter(isUnderWay);
    if (underWay.length > 1) fail('R1', `${nodeId} has ${underWay.length} candidates at once`);
    for (const { id, state, epoch } of view.rollouts) {
      const before = this.#seen.get(id);
      const wasOver = before !== undefined && !isUnderWay({ state: before.state } as Rollout);
      // R3: what is over stays over, the same on every node.
      if (wasOver && epoch > before.epoch) fail('R3', `${nodeId}: rollout ${id} was ${before.state} and is ${state}`);
      if (before === undefined || epoch > before.epoch) this.#seen.set(id, { state, epoch });
    }
    // R7: shadow steps alone activate nothing.
    for (const { id, plan } of view.rollouts) {
      if (!isServing(plan) && view.activations.some(({ rollout }) => rollout === id))
        fail('R7', `${nodeId}: rollout ${id} has shadow steps alone and has activated its snapshot`);
    }
    // R4: no client is given a candidate that no rollout under way names.
    const [rollout] = underWay;
    if (rollout !== undefined && view.snapshot(rollout.snapshotId) === undefined) {
      fail('R4', `${nodeId}: the candidate of rollout ${rollout.id} is deleted`);
    }
  }
}
