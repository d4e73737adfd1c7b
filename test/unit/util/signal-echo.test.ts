import { expect } from 'chai';
import { SignalEcho } from '../../../src/util/signal-echo.ts';

describe('duplicates of signals', () => {
  it('are the same signal again within the time, and no other one', () => {
    const echo = new SignalEcho(500);
    expect(echo.repeats('SIGINT', 0)).to.equal(false);
    expect(echo.repeats('SIGINT', 499)).to.equal(true);
    expect(echo.repeats('SIGINT', 500)).to.equal(false);
    expect(echo.repeats('SIGTERM', 501)).to.equal(false);
  });

  it('are none where the program was not launched by another', () => {
    const echo = new SignalEcho(0);
    expect(echo.repeats('SIGINT', 0)).to.equal(false);
    expect(echo.repeats('SIGINT', 0)).to.equal(false);
  });
});
