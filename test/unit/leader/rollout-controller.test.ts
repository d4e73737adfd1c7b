import { expect } from 'chai';
import fc from 'fast-check';
import type { CountedRefusal, FleetFigures, StepFigures } from '../../../src/leader/fleet-figures.ts';
import { RolloutController } from '../../../src/leader/rollout-controller.ts';
import type { ShadowCounts } from '../../../src/model/answers/rollout-answers.ts';
import { noShadow } from '../../../src/model/shadow.ts';
import { candidateOf } from '../../../src/snapshot/build.ts';
import type { Command, Draft } from '../../../src/state/command.ts';
import { ConfigState } from '../../../src/state/config-state.ts';
import type { Rollout, RolloutPlan } from '../../../src/state/rollout.ts';
import { activate, applyAll, capture } from '../../support/commands.ts';
import { plan as usual } from '../../support/random-commands.ts';

const noMirror = { compared: 0, mismatchShare: 0 };

const side = (fields: Partial<StepFigures['candidate']> = {}): StepFigures['candidate'] => ({
  requests: 100,
  serverErrors: 0,
  clientErrors: 0,
  proxyErrors: 0,
  errorRate: 0,
  p50Ms: 1,
  p95Ms: 2,
  p99Ms: 3,
  meanMs: 1,
  ...fields,
});

const plan: RolloutPlan = {
  ...usual,
  steps: [
    { share: 1, holdMs: 5_000 },
    { share: 50, holdMs: 5_000 },
    { share: 100, holdMs: 0 },
  ],
  guards: ['candidate.errorRate <= stable.errorRate + 0.01', 'proxies.installed > 0.0'],
};

/** A leader with its state, its clock and a fleet that a test speaks for. */
class Bed {
  readonly state = new ConfigState();
  now = Date.UTC(2026, 0, 1);
  figures: StepFigures | undefined = {
    candidate: side(),
    stable: side(),
    proxies: { total: 3, installed: 3, refused: 0 },
    mirror: noMirror,
    shadow: noShadow,
  };
  refusals: readonly CountedRefusal[] = [];
  readonly began: number[] = [];
  readonly proposed: Draft[] = [];
  /** Lead of the wall clock, in milliseconds. */
  wallAhead = 0;
  controller: RolloutController;
  #seq = 1_000;

  constructor(of: RolloutPlan = plan) {
    const source: FleetFigures = {
      begin: (_, epoch) => void this.began.push(epoch),
      figures: () => this.figures,
      refusals: () => this.refusals,
    };
    this.controller = new RolloutController(source);
    applyAll(this.state, capture('a'), capture('b'), activate('a'));
    this.apply({ op: 'rollout', action: 'start', id: 'r', snapshotId: 'b', plan: of, by: 'ops' });
  }

  get rollout(): Rollout {
    const rollout = this.state.rollouts.at(-1);
    if (rollout === undefined) throw new Error('no rollout');
    return rollout;
  }

  get kinds(): string[] {
    return this.rollout.events.map(({ kind }) => kind);
  }

  apply(draft: Draft): number | string {
    this.#seq += 1;
    const requestId = { origin: 'bed', incarnation: 1, boot: 1, seq: this.#seq, ackedBelow: 1 };
    const [applied] = applyAll(this.state, { ...draft, v: 1, requestId, time: this.now } as Command);
    return applied?.result.status ?? 0;
  }

  /** Looks every quarter of a second, as the leader does, and applies what it concludes. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= 250) {
      this.now += 250;
      const draft = this.controller.due(this.state, this.now + this.wallAhead, this.now);
      if (draft === undefined) continue;
      this.proposed.push(draft);
      this.apply(draft);
    }
  }
}

describe('a rollout', () => {
  it('lets no guard fail on fewer requests than minRequests', () => {
    const bed = new Bed({ ...plan, minRequests: 20, failures: 1 });
    bed.figures = { ...bed.figures!, candidate: side({ requests: 3, errorRate: 1 }) };
    bed.pass(4_000);
    expect(bed.kinds).to.deep.equal(['started']);
    bed.figures = { ...bed.figures, candidate: side({ requests: 20, errorRate: 1 }) };
    bed.pass(2_000);
    expect(bed.kinds).to.deep.equal(['started', 'guard failed', 'rolledBack']);
  });

  it('names the proxies that refuse, with their problems', () => {
    const bed = new Bed();
    bed.refusals = [{ proxy: 'p7', problems: [{ pointer: '/routes/r', message: 'x'.repeat(400) }] }];
    bed.figures = { ...bed.figures!, proxies: { total: 3, installed: 2, refused: 1 } };
    bed.pass(1_000);
    const { values } = bed.rollout.events.find(({ kind }) => kind === 'refused') ?? {};
    const problems = [{ pointer: '/routes/r', message: 'x'.repeat(300) }];
    expect(values).to.deep.include({ refusals: [{ proxy: 'p7', problems }] });
  });

  it('by labels leaves the candidate at the proxies of earlier steps', () => {
    const bed = new Bed({
      ...plan,
      steps: [
        { labels: { site: 'fra' }, holdMs: 0 },
        { labels: { site: 'ams' }, holdMs: 0 },
        { share: 50, holdMs: 60_000 },
        { share: 100, holdMs: 0 },
      ],
    });
    const seen: unknown[] = [];
    for (let at = 0; at < 3; at++) {
      const { labels, share } = candidateOf(bed.state) ?? {};
      seen.push([labels?.map(({ site }) => site), share]);
      bed.apply({ op: 'rollout', id: 'r', action: 'promote', by: 'ops' } as Draft);
    }
    expect(seen).to.deep.equal([
      [['fra'], 0],
      [['fra', 'ams'], 0],
      [['fra', 'ams'], 50],
    ]);
  });

  it('goes step by step to its end, which is an activation', () => {
    const bed = new Bed();
    bed.pass(4_750);
    expect(bed.rollout).to.include({ state: 'running', step: 0 });
    bed.pass(500);
    expect(bed.rollout).to.include({ state: 'running', step: 1 });
    bed.pass(6_000);
    expect(bed.rollout).to.include({ state: 'completed', step: 2 });
    expect(bed.kinds).to.deep.equal(['started', 'step', 'completed']);
    expect(bed.state.active).to.include({ snapshotId: 'b' });
    expect(bed.state.activations.at(-1)).to.include({ reason: 'rollout', rollout: 'r', by: 'ops', name: 'b name' });
    expect(bed.began).to.have.lengthOf(2);
    bed.pass(10_000);
    expect(bed.proposed).to.have.lengthOf(2);
  });

  it('does not last longer, nor shorter, because the wall clock is set (seed 7800032 of whole nodes)', () => {
    const bed = new Bed();
    bed.wallAhead = 1_000_000;
    bed.pass(2_000);
    bed.wallAhead = 0;
    bed.pass(2_750);
    expect(bed.rollout).to.include({ state: 'running', step: 0 });
    bed.pass(500);
    expect(bed.rollout).to.include({ state: 'running', step: 1 });
    bed.wallAhead = 1_000_000;
    bed.pass(1_000);
    expect(bed.rollout).to.include({ state: 'running', step: 1 });
  });

  it('is rolled back when a guard is false as often in a row as it may not', () => {
    const bed = new Bed();
    bed.figures = { ...bed.figures!, candidate: side({ errorRate: 0.5 }) };
    bed.pass(1_000);
    expect(bed.rollout.state).to.equal('running');
    bed.figures = { ...bed.figures, candidate: side() };
    bed.pass(1_000);
    bed.figures = { ...bed.figures, candidate: side({ errorRate: 0.5 }) };
    // Within checkInterval × failures, and a look more.
    bed.pass(2_250);
    expect(bed.rollout.state).to.equal('rolledBack');
    expect(bed.kinds).to.deep.equal(['started', 'guard failed', 'rolledBack']);
    const [, failed] = bed.rollout.events;
    expect(failed?.guard).to.equal(plan.guards[0]);
    expect(failed?.values).to.have.nested.property('candidate.errorRate', 0.5);
    expect(bed.state.active).to.include({ snapshotId: 'a' });
  });

  it('is paused instead when the plan says so, and begins its step anew when it is resumed', () => {
    const bed = new Bed({ ...plan, onFail: 'pause' });
    bed.figures = undefined;
    bed.pass(2_500);
    expect(bed.rollout.state).to.equal('paused');
    bed.figures = {
      candidate: side(),
      stable: side(),
      proxies: { total: 3, installed: 3, refused: 0 },
      mirror: noMirror,
      shadow: noShadow,
    };
    bed.pass(60_000);
    expect(bed.rollout).to.include({ state: 'paused', step: 0 });
    expect(bed.apply({ op: 'rollout', id: 'r', action: 'resume', by: 'ops' })).to.equal(200);
    bed.pass(4_750);
    expect(bed.rollout).to.include({ state: 'running', step: 0 });
    bed.pass(1_250);
    expect(bed.rollout).to.include({ state: 'running', step: 1 });
  });

  it('is over at once when a proxy refuses the candidate', () => {
    const bed = new Bed();
    bed.figures = { ...bed.figures!, proxies: { total: 3, installed: 2, refused: 1 } };
    bed.pass(250);
    expect(bed.kinds).to.deep.equal(['started', 'refused', 'rolledBack']);
  });

  it('waits for requests, and pauses when they do not come in time', () => {
    const bed = new Bed({ ...plan, maxStepMs: 30_000 });
    bed.figures = { ...bed.figures!, candidate: side({ requests: 19 }) };
    bed.pass(29_750);
    expect(bed.rollout).to.include({ state: 'running', step: 0 });
    bed.pass(500);
    expect(bed.rollout.state).to.equal('paused');
  });

  it('goes on where maxStep is over between two checks and nothing but a check is missing', () => {
    for (const maxStepMs of [1_000, 5_000]) {
      const bed = new Bed({ ...plan, maxStepMs, checkIntervalMs: 3_000 });
      bed.pass(6_000);
      expect(bed.rollout).to.include({ state: 'running', step: 0 });
      bed.pass(250);
      expect(bed.rollout).to.include({ state: 'running', step: 1 });
      bed.figures = bed.figures && { ...bed.figures, candidate: side({ requests: 1 }) };
      bed.pass(5_250);
      expect(bed.rollout).to.include({ state: 'paused', step: 1 });
    }
  });

  it('begins its step anew under a new leader', () => {
    const bed = new Bed();
    bed.pass(4_500);
    bed.controller.leads();
    bed.pass(4_500);
    expect(bed.rollout).to.include({ state: 'running', step: 0 });
    expect(bed.began).to.have.lengthOf(2);
    bed.pass(1_000);
    expect(bed.rollout).to.include({ state: 'running', step: 1 });
  });

  it('takes no decision of a leader that saw another step', () => {
    const bed = new Bed();
    const { epoch } = bed.rollout;
    expect(bed.apply({ op: 'rollout', id: 'r', action: 'promote' })).to.equal(200);
    for (const action of ['advance', 'fail', 'stall'] as const) {
      expect(bed.apply({ op: 'rollout', id: 'r', action, epoch, because: 'refused' })).to.equal(409);
    }
    expect(bed.rollout).to.include({ state: 'running', step: 1 });
  });

  it('holds all at once for a while when the plan says so', () => {
    const bed = new Bed({ ...plan, steps: [{ share: 100, holdMs: 5_000 }] });
    bed.pass(4_000);
    expect(bed.rollout).to.include({ state: 'running', step: 0 });
    bed.pass(2_000);
    expect(bed.rollout.state).to.equal('completed');
  });

  it('never rises while a guard is false, and always ends, for any report of the fleet', () => {
    const reports = fc.array(
      fc.record({
        forMs: fc.integer({ min: 1, max: 40 }).map((quarters) => quarters * 250),
        what: fc.constantFrom('good', 'bad', 'nothing', 'quiet', 'refused', 'new leader'),
      }),
      { maxLength: 40, size: 'max' },
    );
    fc.assert(
      fc.property(reports, fc.constantFrom('rollback' as const, 'pause' as const), (list, onFail) => {
        const bed = new Bed({ ...plan, onFail, maxStepMs: 20_000 });
        const proxies = { total: 1, installed: 1, refused: 0 };
        const good = { candidate: side(), stable: side(), proxies, mirror: noMirror, shadow: noShadow };
        for (const { forMs, what } of list) {
          if (what === 'new leader') bed.controller.leads();
          if (what === 'good') bed.figures = good;
          if (what === 'bad') bed.figures = { ...good, candidate: side({ errorRate: 1 }) };
          if (what === 'nothing') bed.figures = undefined;
          if (what === 'quiet') bed.figures = { ...good, candidate: side({ requests: 0 }) };
          if (what === 'refused') bed.figures = { ...good, proxies: { ...proxies, refused: 1 } };
          const before = bed.rollout.step;
          bed.pass(forMs);
          if (['bad', 'nothing', 'refused', 'quiet'].includes(what)) expect(bed.rollout.step).to.equal(before);
        }
        bed.figures = good;
        for (let at = 0; at < 5 && bed.rollout.state !== 'completed'; at++) {
          bed.pass(60_000);
          if (bed.rollout.state === 'paused') bed.apply({ op: 'rollout', id: 'r', action: 'resume' });
        }
        expect(bed.rollout.state).to.be.oneOf(['completed', 'rolledBack']);
        expect(bed.state.active?.snapshotId).to.equal(bed.rollout.state === 'completed' ? 'b' : 'a');
      }),
      { numRuns: 100, seed: 14 },
    );
  });

  describe('in a shadow step', () => {
    const shadowed: RolloutPlan = {
      ...plan,
      steps: [
        { shadow: true, holdMs: 5_000 },
        { share: 100, holdMs: 0 },
      ],
      guards: ['shadow.lost == 0.0 && shadow.rejectedLess == 0.0'],
    };
    const quiet = { candidate: side({ requests: 0 }), stable: side(), proxies: { total: 1, installed: 1, refused: 0 } };
    const compared = (counts: Partial<ShadowCounts>): StepFigures => {
      const { requests = 100, ...others } = counts;
      return { ...quiet, mirror: noMirror, shadow: { ...noShadow, requests, same: requests, ...others } };
    };

    it('counts compared requests for minRequests, serves no client and goes on when the guards hold', () => {
      const bed = new Bed(shadowed);
      expect(candidateOf(bed.state)).to.include({ share: 0, shadowSample: 1 });
      bed.figures = compared({ requests: 19 });
      bed.pass(20_000);
      expect(bed.rollout).to.include({ state: 'running', step: 0 });
      bed.figures = compared({ requests: 20, moved: 3 });
      bed.pass(2_000);
      expect(bed.rollout.state).to.equal('completed');
      expect(bed.state.active).to.include({ snapshotId: 'b' });
      expect(bed.rollout.shadows).to.deep.equal([{ step: 0, counts: compared({ requests: 20, moved: 3 }).shadow }]);
    });

    it('goes back with the guard named and the counts kept when a request would be lost', () => {
      const bed = new Bed(shadowed);
      bed.figures = compared({ requests: 10_000, lost: 1 });
      bed.pass(2_250);
      expect(bed.rollout.state).to.equal('rolledBack');
      const failed = bed.rollout.events.find(({ kind }) => kind === 'guard failed');
      expect(failed?.guard).to.equal(shadowed.guards[0]);
      expect(failed?.values).to.have.nested.property('shadow.lost', 1);
      expect(bed.rollout.shadows?.[0]?.counts).to.include({ requests: 10_000, lost: 1 });
      expect(bed.state.active).to.include({ snapshotId: 'a' });
    });

    it('ends without an activation when it stands alone', () => {
      const bed = new Bed({ ...shadowed, steps: [{ shadow: true, holdMs: 1_000 }] });
      bed.figures = compared({});
      bed.pass(3_000);
      expect(bed.kinds).to.deep.equal(['started', 'completed']);
      expect(bed.rollout.state).to.equal('completed');
      expect(bed.state.active).to.include({ snapshotId: 'a' });
      expect(candidateOf(bed.state)).to.equal(undefined);
    });

    it('compares no request any more once clients are served', () => {
      const bed = new Bed({ ...shadowed, steps: [{ shadow: true, holdMs: 0 }, ...plan.steps], shadowSample: 7 });
      expect(candidateOf(bed.state)).to.include({ share: 0, shadowSample: 7 });
      bed.apply({ op: 'rollout', id: 'r', action: 'promote' });
      expect(candidateOf(bed.state)).to.include({ share: 1 }).and.not.have.property('shadowSample');
    });
  });
});
