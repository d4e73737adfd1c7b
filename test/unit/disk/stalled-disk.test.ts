import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { standsStill } from '../../../disk/stalled-disk.ts';

describe('a disk that stands still', () => {
  it('is told from work that takes its time on a disk that writes, or rejects that', async () => {
    let writes = 0;
    const write = (): Promise<void> => (++writes % 2 === 0 ? Promise.resolve() : Promise.reject(new Error('full')));
    expect(await standsStill(pause(200), write, 10)).to.equal(false);
    expect(writes).to.be.greaterThan(0);
    expect(await standsStill(Promise.reject(new Error('failed')), write, 10)).to.equal(false);
  });

  it('is one whose write does not end while the work waits', async () => {
    const work = Promise.withResolvers<void>();
    expect(await standsStill(work.promise, () => new Promise(() => undefined), 10)).to.equal(true);
  });
});
