import { expect } from 'chai';
import type { ActionExchange } from '../../../../src/proxy/exchange/entry.ts';
import type { InFlightPermit } from '../../../../src/proxy/forward/in-flight-permit.ts';
import type { RetryPlan } from '../../../../src/proxy/forward/retry-policy.ts';
import { RetryState } from '../../../../src/proxy/forward/retry-state.ts';

const passing = 'the body as it comes';
const plan = { perAttemptMs: 5 } as RetryPlan;

/** State of an exchange, with the names of what is done to its body. */
function retryState({ upgrade = '', expectContinue = false } = {}) {
  const steps: string[] = [];
  const held = { keep: (bytes: number) => steps.push(`keep ${bytes}`), release: () => steps.push('release') };
  const exchange = {
    request: { upgrade, expectContinue },
    retryBytesMax: 7,
    requestBody: () => passing,
    heldRequestBody: () => held,
    downstream: { response: { continue: () => steps.push('continue') } },
  };
  return { state: new RetryState(exchange as unknown as ActionExchange, {} as InFlightPermit), held, steps };
}

describe('the body of a request', () => {
  it('is kept where the policy or the upstream may ask for it again, and nowhere else', () => {
    for (const [policy, mayBeRefused, isKept] of [
      [undefined, false, false],
      [undefined, true, true],
      [plan, false, true],
      [plan, true, true],
    ] as const) {
      const { state, held, steps } = retryState();
      state.begin(policy);
      expect(state.body(mayBeRefused)).to.equal(isKept ? held : passing);
      expect(steps).to.deep.equal(isKept ? ['keep 7'] : []);
    }
  });

  it('is never kept once the protocol is another one', () => {
    const { state, steps } = retryState({ upgrade: 'websocket' });
    state.begin(plan);
    expect(state.body(true)).to.equal(passing);
    expect(steps).to.deep.equal([]);
  });

  it('is the same for the next attempt, which tells a client that waits to send the rest', () => {
    for (const expectContinue of [false, true]) {
      const { state, steps } = retryState({ expectContinue });
      state.begin(plan);
      expect(state.body(false)).to.equal(state.body(false));
      state.settle();
      expect(steps).to.deep.equal(['keep 7', ...(expectContinue ? ['continue'] : []), 'release']);
    }
  });
});
