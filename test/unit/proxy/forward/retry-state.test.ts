import { expect } from 'chai';
import type { ActionExchange } from '../../../../src/proxy/exchange/entry.ts';
import type { InFlightPermit } from '../../../../src/proxy/forward/in-flight-permit.ts';
import type { RetryPlan } from '../../../../src/proxy/forward/retry-policy.ts';
import { RetryState } from '../../../../src/proxy/forward/retry-state.ts';

const passing = 'the body as it comes';
const plan = { perAttemptMs: 5 } as RetryPlan;

/** State of an exchange, with the names of what is done to its body. */
function retryState({
  upgrade = '',
  expectContinue = false,
  method = 'GET',
  bodyKind = 'none',
  replayable = true,
} = {}) {
  const steps: string[] = [];
  const held = {
    replayable,
    keep: (bytes: number) => steps.push(`keep ${bytes}`),
    release: () => steps.push('release'),
  };
  const exchange = {
    request: { upgrade, expectContinue, method },
    bodyKind,
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
      expect(state.body(mayBeRefused, false)).to.equal(isKept ? held : passing);
      expect(steps).to.deep.equal(isKept ? ['keep 7'] : []);
    }
  });

  it('is kept where its method is idempotent and the connection may have been closed while idle', () => {
    for (const [method, mayBeClosed, isKept] of [
      ['PUT', true, true],
      ['PUT', false, false],
      ['POST', true, false],
    ] as const) {
      const { state, held } = retryState({ method, bodyKind: 'length' });
      state.begin(undefined);
      expect(state.body(false, mayBeClosed), method).to.equal(isKept ? held : passing);
    }
  });

  it('is never kept once the protocol is another one', () => {
    const { state, steps } = retryState({ upgrade: 'websocket' });
    state.begin(plan);
    expect(state.body(true, true)).to.equal(passing);
    expect(steps).to.deep.equal([]);
  });

  it('is the same for the next attempt, which tells a client that waits to send the rest', () => {
    for (const expectContinue of [false, true]) {
      const { state, steps } = retryState({ expectContinue });
      state.begin(plan);
      expect(state.body(false, false)).to.equal(state.body(false, false));
      state.settle();
      expect(steps).to.deep.equal(['keep 7', ...(expectContinue ? ['continue'] : []), 'release']);
    }
  });
});

describe('a request that its upstream did not process', () => {
  const tried = (more: object, isHeld = true) => {
    const { state } = retryState(more);
    state.begin(undefined);
    if (isHeld) state.body(true, false);
    return Array.from({ length: 4 }, () => state.mayTryElsewhere());
  };

  it('goes elsewhere three times', () => {
    expect(tried({}, false)).to.deep.equal([true, true, true, false]);
    expect(tried({ bodyKind: 'length', method: 'POST' })).to.deep.equal([true, true, true, false]);
  });

  it('stays with an error where its body cannot be sent again', () => {
    const none = [false, false, false, false];
    expect(tried({ bodyKind: 'length', replayable: false })).to.deep.equal(none);
    expect(tried({ bodyKind: 'chunked' }, false)).to.deep.equal(none);
  });
});

describe('a request whose connection was closed while idle', () => {
  const repeated = (more: object) => {
    const { state } = retryState(more);
    state.begin(undefined);
    state.body(false, true);
    return [state.mayRepeat(), state.mayRepeat()];
  };

  it('is repeated once where its method is idempotent and its body, if it has one, can be sent again', () => {
    for (const method of ['GET', 'PROPFIND', 'REPORT']) expect(repeated({ method })).to.deep.equal([true, false]);
    expect(repeated({ method: 'PUT', bodyKind: 'length' })).to.deep.equal([true, false]);
    expect(repeated({ method: 'PUT', bodyKind: 'length', replayable: false })).to.deep.equal([false, false]);
    for (const bodyKind of ['none', 'length']) {
      expect(repeated({ method: 'POST', bodyKind })).to.deep.equal([false, false]);
    }
  });
});
