import { mock } from 'node:test';
import { expect } from 'chai';
import { systemClock } from '../../../src/util/clock.ts';

const dayMs = 24 * 3_600_000;

describe('the clock of the system', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('takes what is due in a year for no sooner than that, although a timer holds 24 days', () => {
    const delays: number[] = [];
    const mocked = globalThis.setTimeout;
    const asked = mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) => {
      delays.push(ms);
      return mocked(run, ms);
    });
    let runs = 0;
    systemClock.after(365 * dayMs, () => runs++);
    for (let day = 1; day < 365; day++) mock.timers.tick(dayMs);
    expect(runs).to.equal(0);
    // A timer that another one starts counts from the end of the day here.
    for (let day = 0; day < 15; day++) mock.timers.tick(dayMs);
    expect(runs).to.equal(1);
    asked.mock.restore();
    expect(Math.max(...delays)).to.be.at.most(2 ** 31 - 1);
  });

  it('forgets what is cancelled, at any time', () => {
    for (const days of [1, 100]) {
      let runs = 0;
      const cancel = systemClock.after(200 * dayMs, () => runs++);
      for (let day = 0; day < days; day++) mock.timers.tick(dayMs);
      cancel();
      for (let day = 0; day < 200; day++) mock.timers.tick(dayMs);
      expect(runs).to.equal(0);
    }
  });
});
