// The circuit of a destination against a slow, obvious model of contract.md §7.9, several threads on the same row.
import { expect } from 'chai';
import fc from 'fast-check';
import { type Admission, CircuitBreaker, type ExchangeResult } from '../../../../src/proxy/upstream/circuit-breaker.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { sharedStates } from './balance/serving.ts';

interface Limits {
  readonly activeMax: number;
  readonly failureThreshold: number;
  readonly openMs: number;
}

class Model {
  readonly #limits: Limits;
  state: 'closed' | 'open' | 'half-open' = 'closed';
  failures = 0;
  openUntil = 0;
  probing = false;
  active = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  admit(now: number): Admission {
    if (this.active >= this.#limits.activeMax) return 'refused';
    if (this.state === 'open') {
      if (now < this.openUntil) return 'refused';
      this.state = 'half-open';
    }
    if (this.state === 'half-open' && this.probing) return 'refused';
    this.active++;
    if (this.state === 'closed') return 'admitted';
    this.probing = true;
    return 'probe';
  }

  leave(admission: Admission, outcome: ExchangeResult, now: number): void {
    this.active--;
    if (admission === 'probe') {
      this.probing = false;
      if (outcome === 'success') {
        this.state = 'closed';
        this.failures = 0;
      } else if (outcome === 'failure') this.#open(now);
    } else if (this.state === 'closed' && this.#limits.failureThreshold > 0) {
      if (outcome === 'success') this.failures = 0;
      if (outcome === 'failure' && ++this.failures >= this.#limits.failureThreshold) this.#open(now);
    }
  }

  #open(now: number): void {
    this.state = 'open';
    this.openUntil = now + this.#limits.openMs;
  }
}

const limitsOf = (limits: Limits) => ({ ...limits, waitingMax: 10, retriesMax: 10 });

describe('the circuit breaker', () => {
  it('does what the model does, whichever threads ask', () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('admit' as const), thread: fc.nat(3) }) },
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant('leave' as const),
          which: fc.nat(50),
          outcome: fc.constantFrom<ExchangeResult>('failure', 'failure', 'success', 'unknown'),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 150 }) }) },
    );
    const limits = fc.record({
      activeMax: fc.integer({ min: 1, max: 6 }),
      failureThreshold: fc.integer({ min: 0, max: 3 }),
      openMs: fc.constant(100),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), limits, fc.array(step, { maxLength: 60 }), (threads, wish, steps) => {
        const clock = new ManualClock();
        const states = sharedStates(0, threads).map(({ destination }) => destination);
        const breakers = states.map((state) => new CircuitBreaker(state, limitsOf(wish), clock));
        const model = new Model(wish);
        const inFlight: { breaker: CircuitBreaker; admission: Admission }[] = [];
        for (const each of steps) {
          if (each.kind === 'wait') clock.advance(each.ms);
          else if (each.kind === 'admit') {
            const breaker = breakers[each.thread % threads];
            const admission = breaker?.admit() ?? 'refused';
            expect(admission).to.equal(model.admit(clock.monotonicMs()));
            if (breaker !== undefined && admission !== 'refused') inFlight.push({ breaker, admission });
          } else {
            const [over] = inFlight.splice(each.which % Math.max(1, inFlight.length), 1);
            if (over === undefined) continue;
            over.breaker.conclude(over.admission, each.outcome);
            over.breaker.leave();
            model.leave(over.admission, each.outcome, clock.monotonicMs());
          }
          expect(states[0]?.active).to.equal(model.active);
          expect(['closed', 'open', 'half-open'][states[0]?.circuit ?? 9]).to.equal(model.state);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('lets a probe be taken again when its thread crashes, and forgets what the thread held', () => {
    const clock = new ManualClock();
    const [one, two] = sharedStates(0, 2).map(({ destination }) => destination);
    if (one === undefined || two === undefined) throw new Error('no row');
    const limits = limitsOf({ activeMax: 3, failureThreshold: 1, openMs: 100 });
    const [first, second] = [new CircuitBreaker(one, limits, clock), new CircuitBreaker(two, limits, clock)];
    first.conclude(first.admit(), 'failure');
    first.leave();
    expect(second.admit()).to.equal('refused');
    clock.advance(100);
    expect(first.admit()).to.equal('probe');
    expect(second.admit()).to.equal('refused');
    two.forget(0);
    expect(two.active).to.equal(0);
    expect(second.admit()).to.equal('probe');
  });

  it('allows three retries always, then a share of what is under way, and never more than its cap', () => {
    const [state] = sharedStates(0).map(({ destination }) => destination);
    if (state === undefined) throw new Error('no row');
    const breaker = new CircuitBreaker(
      state,
      { ...limitsOf({ activeMax: 100, failureThreshold: 0, openMs: 0 }), retriesMax: 6 },
      new ManualClock(),
    );
    const admitted = (): number => {
      let count = 0;
      while (breaker.admitRetry(20)) count++;
      for (let i = 0; i < count; i++) breaker.leaveRetry();
      return count;
    };
    for (const [active, retries] of [
      [0, 3],
      [19, 3],
      [25, 5],
      [100, 6],
    ] as const) {
      while (state.active < active) breaker.admit();
      expect(admitted(), `${active} under way`).to.equal(retries);
    }
  });
});
