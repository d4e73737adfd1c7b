// Ejections against a slow, obvious model of contract.md §7.11, several threads on the same rows.
import { expect } from 'chai';
import fc from 'fast-check';
import { OutlierDetector, type OutlierLimits } from '../../../../src/proxy/upstream/outlier-detector.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { sharedStates } from './balance/serving.ts';

const limits = (changes: Partial<OutlierLimits> = {}): OutlierLimits => ({
  serverErrorsMax: 3,
  gatewayErrorsMax: 0,
  sweepMs: 1_000,
  baseEjectionMs: 500,
  ejectedPercentMax: 50,
  ...changes,
});

interface Modelled {
  serverErrors: number;
  gatewayErrors: number;
  ejections: number;
  ejectedUntil: number | undefined;
}

function observe(endpoint: Modelled, all: readonly Modelled[], status: number, now: number, wish: OutlierLimits): void {
  if (status < 500) {
    endpoint.serverErrors = 0;
    endpoint.gatewayErrors = 0;
    return;
  }
  endpoint.serverErrors++;
  if ([502, 503, 504].includes(status)) endpoint.gatewayErrors++;
  const bad =
    (wish.serverErrorsMax > 0 && endpoint.serverErrors >= wish.serverErrorsMax) ||
    (wish.gatewayErrorsMax > 0 && endpoint.gatewayErrors >= wish.gatewayErrorsMax);
  const ejected = all.filter(({ ejectedUntil }) => ejectedUntil !== undefined).length;
  const cap = all.length === 1 ? 0 : Math.max(1, Math.floor((all.length * wish.ejectedPercentMax) / 100));
  if (!bad || endpoint.ejectedUntil !== undefined || ejected >= cap) return;
  endpoint.ejections++;
  endpoint.ejectedUntil = now + wish.baseEjectionMs * endpoint.ejections;
}

describe('outlier detection', () => {
  for (const [baseEjectionMs, longestMs] of [
    [30_000, 300_000],
    [600_000, 600_000],
  ] as const) {
    it(`never ejects an endpoint for more than ${longestMs} ms, the first time for ${baseEjectionMs} ms`, () => {
      const clock = new ManualClock();
      const [state] = sharedStates(2, 1);
      const endpoint = state?.endpoints[0];
      if (state === undefined || endpoint === undefined) throw new Error('no endpoint');
      const detector = new OutlierDetector(state.destination, 2, limits({ baseEjectionMs }), clock);
      for (let n = 1; n <= 30; n++) {
        for (let i = 0; i < 3; i++) detector.observe(endpoint, 500);
        expect(endpoint.ejectedUntilMs - clock.monotonicMs()).to.equal(Math.min(baseEjectionMs * n, longestMs));
        clock.advance(endpoint.ejectedUntilMs - clock.monotonicMs());
        detector.sweep([endpoint]);
        expect(endpoint.ejected).to.equal(false);
      }
    });
  }

  it('does what the model does, whichever threads see the attempts', () => {
    const step = fc.oneof(
      {
        weight: 12,
        arbitrary: fc.record({
          kind: fc.constant('observe' as const),
          thread: fc.nat(3),
          endpoint: fc.nat(5),
          status: fc.constantFrom(200, 404, 500, 502, 503, 504, 505, 503),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('sweep' as const), ms: fc.integer({ min: 0, max: 900 }) }),
      },
    );
    const wishes = fc.record({
      serverErrorsMax: fc.integer({ min: 0, max: 3 }),
      gatewayErrorsMax: fc.integer({ min: 0, max: 3 }),
      sweepMs: fc.constant(1_000),
      baseEjectionMs: fc.constant(500),
      ejectedPercentMax: fc.constantFrom(0, 10, 34, 50, 100),
    });
    const sizes = fc.record({ threads: fc.integer({ min: 1, max: 4 }), endpoints: fc.integer({ min: 1, max: 6 }) });
    fc.assert(
      fc.property(sizes, wishes, fc.array(step, { maxLength: 80 }), ({ threads, endpoints }, wish, steps) => {
        const clock = new ManualClock();
        const states = sharedStates(endpoints, threads);
        const detectors = states.map(({ destination }) => new OutlierDetector(destination, endpoints, wish, clock));
        const model = Array.from(
          { length: endpoints },
          (): Modelled => ({ serverErrors: 0, gatewayErrors: 0, ejections: 0, ejectedUntil: undefined }),
        );
        for (const each of steps) {
          const now = clock.monotonicMs();
          if (each.kind === 'observe') {
            const [thread, place] = [each.thread % threads, each.endpoint % endpoints];
            const [state, modelled] = [states[thread]?.endpoints[place], model[place]];
            if (state === undefined || modelled === undefined) continue;
            detectors[thread]?.observe(state, each.status);
            observe(modelled, model, each.status, now, wish);
          } else {
            clock.advance(each.ms);
            detectors[0]?.sweep(states[0]?.endpoints ?? []);
            for (const modelled of model) {
              if (modelled.ejectedUntil === undefined || now + each.ms < modelled.ejectedUntil) continue;
              Object.assign(modelled, { serverErrors: 0, gatewayErrors: 0, ejectedUntil: undefined });
            }
          }
          expect(states[0]?.endpoints.map(({ ejected }) => ejected)).to.deep.equal(
            model.map(({ ejectedUntil }) => ejectedUntil !== undefined),
          );
          expect(states[0]?.endpoints.map(({ ejections }) => ejections)).to.deep.equal(
            model.map(({ ejections }) => ejections),
          );
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('leaves a pool of one alone, and at least one of two may be ejected at any percentage', () => {
    for (const [count, ejected] of [
      [1, 0],
      [2, 1],
      [3, 1],
    ] as const) {
      const [states] = sharedStates(count);
      if (states === undefined) throw new Error('no rows');
      const wish = limits({ ejectedPercentMax: 10 });
      const detector = new OutlierDetector(states.destination, count, wish, new ManualClock());
      for (const endpoint of states.endpoints) for (let i = 0; i < 10; i++) detector.observe(endpoint, 500);
      expect(states.endpoints.filter((endpoint) => endpoint.ejected)).to.have.length(ejected);
    }
  });
});
