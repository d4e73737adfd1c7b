// Health against a slow, obvious model of contract.md §7.10; the prober writes, every thread reads.
import { expect } from 'chai';
import fc from 'fast-check';
import { type HealthPlan, HealthProber } from '../../../../src/proxy/upstream/health/health-prober.ts';
import type { ProbeResult } from '../../../../src/proxy/upstream/health/probe.ts';
import { http1 } from '../../../../src/proxy/upstream/protocol/http1.ts';
import { silentLogger } from '../../../../src/telemetry/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { names, sharedStates } from './balance/serving.ts';

const plan = (changes: Partial<HealthPlan> = {}): HealthPlan => ({
  type: 'http',
  path: '/',
  grpcService: '',
  statuses: [[200, 399]],
  timeoutMs: 500,
  dualStackFallbackMs: 300,
  protocol: http1,
  tls: undefined,
  intervalMs: 1_000,
  unhealthyThreshold: 3,
  healthyThreshold: 2,
  ...changes,
});

/** A prober of as many endpoints, whose probes answer what `verdicts` says at the time. */
function bed(count: number, threads: number) {
  const clock = new ManualClock();
  const states = sharedStates(count, threads);
  const verdicts: ProbeResult[] = Array.from({ length: count });
  const asked: string[] = [];
  const prober = new HealthProber({
    clock,
    logger: silentLogger,
    probe: async ({ name }) => {
      asked.push(name);
      return verdicts[names(count).indexOf(name)];
    },
  });
  const destination = (wish: HealthPlan, planText = 'a', endpoints = names(count)) => ({
    id: 'd',
    plan: wish,
    planText,
    state: states[0]!.destination,
    endpoints: endpoints.map((name) => ({
      name,
      host: '10.0.0.1',
      port: 80,
      state: states[0]!.endpoints[names(count).indexOf(name)]!,
    })),
  });
  /** One probe of every endpoint, and what comes of it. */
  const round = async (ms = 1_000): Promise<void> => {
    clock.advance(ms);
    for (let i = 0; i < 4; i++) await Promise.resolve();
  };
  return { clock, states, verdicts, asked, prober, destination, round };
}

describe('health checks', () => {
  it('do what the model does, in the eyes of every thread', () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({ threads: fc.integer({ min: 1, max: 4 }), endpoints: fc.integer({ min: 1, max: 3 }) }),
        fc.record({
          unhealthyThreshold: fc.integer({ min: 1, max: 3 }),
          healthyThreshold: fc.integer({ min: 1, max: 3 }),
        }),
        fc.array(fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), { maxLength: 25 }),
        async ({ threads, endpoints }, thresholds, rounds) => {
          const { states, verdicts, prober, destination, round } = bed(endpoints, threads);
          prober.follow([destination(plan(thresholds))]);
          const model = Array.from({ length: endpoints }, () => ({ healthy: true, passes: 0, failures: 0 }));
          for (const passes of rounds) {
            model.forEach((modelled, i) => {
              verdicts[i] = passes[i] ? undefined : 'status 500';
              modelled.passes = passes[i] ? modelled.passes + 1 : 0;
              modelled.failures = passes[i] ? 0 : modelled.failures + 1;
              if (modelled.failures >= thresholds.unhealthyThreshold) modelled.healthy = false;
              if (modelled.passes >= thresholds.healthyThreshold) modelled.healthy = true;
            });
            await round();
            for (const { endpoints: seen } of states) {
              expect(seen.map(({ healthy }) => healthy)).to.deep.equal(model.map(({ healthy }) => healthy));
            }
          }
          prober.close();
        },
      ),
      { numRuns: 1_000 },
    ));

  it('begin within a second, go on by the interval, and stop', async () => {
    const { clock, asked, prober, destination, round } = bed(3, 1);
    prober.follow([destination(plan({ intervalMs: 5_000 }))]);
    await round(999);
    expect(asked).to.have.members(names(3));
    await round(4_000);
    expect(asked).to.have.length(3);
    await round(1_000);
    expect(asked).to.have.length(6);
    prober.close();
    expect(clock.pending).to.equal(0);
  });

  it('keep their rhythm and their counts when the same is activated again; what left is not asked any more', async () => {
    const { asked, states, verdicts, prober, destination, round } = bed(2, 1);
    const wish = plan({ intervalMs: 1_000 });
    verdicts[0] = 'refused';
    prober.follow([destination(wish)]);
    await round();
    await round();
    prober.follow([destination(wish, 'a', names(1))]);
    await round();
    expect(states[0]?.endpoints[0]?.healthy).to.equal(false);
    expect(asked.filter((name) => name === names(2)[1])).to.have.length(2);
  });
});
