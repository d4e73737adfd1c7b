import { expect } from 'chai';
import { AppliedWaiters } from '../../../../src/cluster/log/applied-waiters.ts';
import { PendingProposals } from '../../../../src/cluster/log/pending-proposals.ts';
import { deadlineMs } from '../../../../src/cluster/write-deadline.ts';
import type { Cancel, Clock } from '../../../../src/util/clock.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const requestId = (seq: number) => ({ origin: 'n1', incarnation: 7, boot: 1, seq, ackedBelow: 1 });

function bed(clock: Clock = new ManualClock()) {
  const port = { propose: () => undefined };
  const waiters = new AppliedWaiters(clock, 0);
  const writes = new PendingProposals({ port, relay: undefined, clock, waiters, failed: () => undefined });
  const over: number[] = [];
  const write = (seq: number, withinMs = deadlineMs): void => {
    writes.write(requestId(seq), new Uint8Array(1), withinMs).then(
      () => over.push(seq),
      () => over.push(-seq),
    );
  };
  return { writes, write, over };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('writes that are not answered yet', () => {
  it('have as long as each other, with others that come and end between them', async () => {
    const clock = new ManualClock();
    const { writes, write, over } = bed(clock);
    write(1);
    clock.advance(400);
    write(2);
    clock.advance(400);
    write(3);
    writes.answer(1, { index: 1, kind: 'routes', id: 'a', status: 200 });
    clock.advance(deadlineMs - 402);
    await turn();
    expect(over).to.deep.equal([1]);
    clock.advance(2);
    await turn();
    expect(over).to.deep.equal([1, -2]);
    clock.advance(398);
    await turn();
    expect(over).to.deep.equal([1, -2]);
    clock.advance(2);
    await turn();
    expect(over).to.deep.equal([1, -2, -3]);
    expect(clock.pending, 'timers').to.equal(0);
  });

  it('have the time that each was given, whichever came first', async () => {
    const clock = new ManualClock();
    const { write, over } = bed(clock);
    write(1, 2.5 * deadlineMs);
    clock.advance(deadlineMs + 1);
    write(2);
    clock.advance(deadlineMs);
    await turn();
    expect(over).to.deep.equal([-2]);
    clock.advance(deadlineMs / 2 - 2);
    await turn();
    expect(over).to.deep.equal([-2]);
    clock.advance(1);
    await turn();
    expect(over).to.deep.equal([-2, -1]);
    expect(clock.pending, 'timers').to.equal(0);
  });

  it('end although each timer is early by what its time is rounded by', async () => {
    const clock = new ManualClock();
    let timers = 0;
    const early: Clock = {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs() - 1e-4,
      after: (delayMs, run): Cancel => {
        timers += 1;
        return clock.after(delayMs - 1e-4, run);
      },
    };
    const { write, over } = bed(early);
    write(1);
    for (let ms = 0; ms < deadlineMs; ms += 100) clock.advance(100);
    await turn();
    expect(over).to.deep.equal([-1]);
    expect(timers).to.equal(1);
  });
});
