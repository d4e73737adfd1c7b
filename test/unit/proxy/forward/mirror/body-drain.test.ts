import { expect } from 'chai';
import { waitingBytesMax } from '../../../../../src/proxy/forward/mirror/body-buffer.ts';
import { BodyDrain } from '../../../../../src/proxy/forward/mirror/body-drain.ts';
import { Wheel } from '../../../../../src/proxy/wheel.ts';
import { systemClock } from '../../../../../src/util/clock.ts';

describe('the rest of a body for a mirror alone', () => {
  const rest = (mirror: { wantsRest: boolean }) => {
    const told = { times: 0 };
    const wheel = new Wheel({ ...systemClock, after: () => () => {} });
    return { told, rest: new BodyDrain(wheel, mirror, () => told.times++) };
  };

  it('is read to its end, and its callback is called once', async () => {
    const { told, rest: read } = rest({ wantsRest: true });
    read.data(Buffer.alloc(10));
    await Promise.resolve();
    expect(told.times).to.equal(0);
    read.end();
    expect(told.times, 'not while the body is delivered').to.equal(0);
    await Promise.resolve();
    read.onDeadline();
    expect(told.times).to.equal(1);
  });

  it('is read within the bound of a copy, while the mirror exists, and for a limited time', async () => {
    const whole = rest({ wantsRest: true });
    whole.rest.data(Buffer.alloc(waitingBytesMax));
    const long = rest({ wantsRest: true });
    long.rest.data(Buffer.alloc(waitingBytesMax + 1));
    const gone = rest({ wantsRest: false });
    gone.rest.data(Buffer.alloc(1));
    const late = rest({ wantsRest: true });
    late.rest.onDeadline();
    const closed = rest({ wantsRest: true });
    closed.rest.end();
    closed.rest.close();
    await Promise.resolve();
    expect([whole, long, gone, late, closed].map(({ told }) => told.times)).to.deep.equal([0, 1, 1, 1, 0]);
  });
});
