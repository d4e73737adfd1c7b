// Timers of an attempt whose connection is lost, and that is made again on another one.
import { expect } from 'chai';
import type { DownstreamResponse } from '../../../../src/proxy/exchange/downstream.ts';
import { AttemptTimers } from '../../../../src/proxy/forward/attempt-timers.ts';
import { Wheel } from '../../../../src/proxy/wheel.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('the wait for 100 of an upstream', () => {
  it('begins anew on another connection, and ends with the response there', () => {
    const clock = new ManualClock();
    const wheel = new Wheel(clock);
    let continued = 0;
    const response = { continue: () => (continued += 1) } as unknown as DownstreamResponse;
    const timers = new AttemptTimers(wheel, { onAttemptLimit() {}, onWholeLimit() {} }, response);
    timers.expectContinue(1_000);
    clock.advance(500);
    timers.expectContinue(1_000);
    timers.onHead();
    clock.advance(5_000);
    expect(continued).to.equal(0);
    timers.expectContinue(1_000);
    clock.advance(5_000);
    expect(continued).to.equal(1);
  });
});
