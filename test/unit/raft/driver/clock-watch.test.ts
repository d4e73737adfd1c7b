import { expect } from 'chai';
import type { Message } from '../../../../raft/core/message.ts';
import { emptyConfig, type MemberId } from '../../../../raft/core/types.ts';
import { ClockWatch } from '../../../../raft/driver/clock-watch.ts';

const start = Date.UTC(2026, 0, 1);
const hour = 3_600_000;

describe('the watch over the clocks of the members', () => {
  let wall: number;
  let monotonic: number;
  let watch: ClockWatch;

  beforeEach(() => {
    wall = start;
    monotonic = 5;
    watch = new ClockWatch({ nowMs: () => wall, monotonicMs: () => monotonic }, 'a#1');
  });

  const config = (...voters: readonly MemberId[]) => ({
    ...emptyConfig,
    voters,
    members: voters.map((id) => ({ id, address: '', clientAddress: '' })),
  });
  const three = config('a#1', 'b#2', 'c#3');
  const hear = (from: MemberId, clock: number): void =>
    watch.hear({ type: 'heartbeatResp', from, clock } as unknown as Message);
  const pass = (ms: number): void => {
    wall += ms;
    monotonic += ms;
  };

  it('tells the own time in heartbeats and their answers alone', () => {
    const heartbeat = { type: 'heartbeat', commit: 1 } as unknown as Message;
    expect(watch.stamped(heartbeat)).to.include({ clock: start });
    const append = { type: 'append' } as unknown as Message;
    expect(watch.stamped(append)).to.equal(append);
  });

  it('knows how far each member is ahead, after its own clock was set too, until it is not heard for ten seconds', () => {
    hear('b#2', start + 45_000);
    pass(5_000);
    hear('c#3', wall);
    expect(watch.offsets(three)).to.deep.equal({ 'b#2': 45_000, 'c#3': 0 });
    wall += 45_000;
    expect(watch.offsets(three)).to.deep.equal({ 'b#2': 0, 'c#3': -45_000 });
    pass(5_001);
    expect(watch.offsets(three)).to.deep.equal({ 'c#3': -45_000 });
  });

  it('knows the clocks of a majority from the answers that made it leader, so the first entry has no time of a wrong clock', () => {
    wall = start + hour;
    for (const type of ['preVoteResp', 'voteResp'] as const) {
      const told = new ClockWatch({ nowMs: () => start, monotonicMs: () => 0 }, 'b#2').stamped({
        type,
        from: 'b#2',
      } as unknown as Message);
      expect(told).to.include({ clock: start });
      watch.hear(told);
      watch.hear({ ...told, from: 'c#3' });
      expect(watch.logTime(three, start)).to.equal(start + 30_000);
      watch = new ClockWatch({ nowMs: () => wall, monotonicMs: () => monotonic }, 'a#1');
    }
  });

  it('finds the own clock wrong where most voters contradict it, and not where half agree', () => {
    expect(watch.median(three)).to.equal(undefined);
    hear('b#2', start - hour);
    expect(watch.median(three), 'one against one').to.equal(0);
    hear('c#3', start - hour);
    expect(watch.median(three)).to.equal(-hour);
    expect(watch.median(config('a#1'))).to.equal(0);
  });

  it('stamps log time no further than thirty seconds ahead of the median, and slews back where the log is ahead', () => {
    hear('b#2', start);
    hear('c#3', start);
    expect(watch.logTime(three, 0)).to.equal(start);
    wall += hour;
    expect(watch.logTime(three, start)).to.equal(start + 30_000);
    wall -= hour;
    expect(watch.logTime(three, start + 30_000)).to.equal(start + 30_000);
    pass(4_000);
    expect(watch.logTime(three, start + 30_000)).to.equal(start + 32_000);
    pass(100_000);
    expect(watch.logTime(three, start + 32_000)).to.equal(start + 104_000);
  });
});
