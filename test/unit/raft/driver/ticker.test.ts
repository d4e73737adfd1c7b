import { expect } from 'chai';
import { Ticker } from '../../../../raft/driver/ticker.ts';
import { HandClock } from '../member/hand-clock.ts';

function ticking() {
  const clock = new HandClock();
  const seen: string[] = [];
  const ticker = new Ticker(clock, 100, 3, {
    stalled: (ticks) => seen.push(`stalled ${ticks}`),
    tick: () => seen.push('tick'),
  });
  ticker.start();
  return { clock, seen, ticker };
}

describe('ticker', () => {
  it('ticks at its pace', async () => {
    const { clock, seen } = ticking();
    await clock.advance(350);
    expect(seen).to.deep.equal(['tick', 'tick', 'tick']);
  });

  it('counts one tick after a stall, and after what arrived meanwhile', async () => {
    const { clock, seen } = ticking();
    clock.jump(2_000);
    clock.soon(() => seen.push('message'));
    await clock.advance(0);
    expect(seen).to.deep.equal(['stalled 20', 'message', 'tick']);
  });

  it('is silent once it is stopped', async () => {
    const { clock, seen, ticker } = ticking();
    ticker.stop();
    await clock.advance(1_000);
    expect(seen).to.deep.equal([]);
  });
});
