import { stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { standsStill } from '../../../disk/stalled-disk.ts';

describe('a disk that stands still', () => {
  it('is told from work that takes its time on a disk that writes, or rejects that', async () => {
    let writes = 0;
    const write = (): Promise<void> => (++writes % 2 === 0 ? Promise.resolve() : Promise.reject(new Error('full')));
    expect(await standsStill(pause(300), write, 50)).to.equal(false);
    expect(writes).to.be.greaterThan(0);
    expect(await standsStill(Promise.reject(new Error('failed')), write, 10)).to.equal(false);
  });

  it('is one whose write does not end while the work waits', async () => {
    const work = Promise.withResolvers<void>();
    expect(await standsStill(work.promise, () => new Promise(() => undefined), 50)).to.equal(true);
  });

  it('is not one whose write ended while the process itself stood still', async () => {
    const work = Promise.withResolvers<void>();
    let writes = 0;
    const write = async (): Promise<void> => {
      if (++writes === 2) work.resolve();
      await stat('/');
      const untilMs = performance.now() + (writes === 1 ? 1_000 : 0);
      while (performance.now() < untilMs);
      await stat('/');
    };
    expect(await standsStill(work.promise, write, 400)).to.equal(false);
    expect(writes).to.equal(2);
  });
});
