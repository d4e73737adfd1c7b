import { expect } from 'chai';
import {
  ConfirmationController,
  type ConfirmationOptions,
  type MeasuredTime,
} from '../../../src/leader/confirmation-controller.ts';
import { LeaderControllers } from '../../../src/leader/leader-controllers.ts';
import type { Draft } from '../../../src/state/command.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type NodeOfOne, nodeOfOne } from '../../support/node-of-one.ts';

/** Options of a node whose clock is that of the cluster, with a memory of its own. */
function alone(memory = new Notes()): ConfirmationOptions {
  return { aheadMs: () => [0], memory };
}

class Notes {
  last: MeasuredTime | undefined;

  write(measured: MeasuredTime): void {
    this.last = measured;
  }
}

describe('a confirmation that does not come', () => {
  let clock: ManualClock;
  let node: NodeOfOne;
  let controllers: LeaderControllers;
  let leads: boolean;
  let proposed: Draft[];
  let confirmation: ConfirmationController;

  beforeEach(async () => {
    clock = new ManualClock();
    node = await nodeOfOne({ clock });
    leads = true;
    proposed = [];
    confirmation = new ConfirmationController(alone());
    const log = {
      get leads() {
        return leads;
      },
      propose: (draft: Draft) => {
        proposed.push(draft);
        return node.log.propose(draft);
      },
    };
    controllers = new LeaderControllers({
      log,
      view: node.state.view,
      clock,
      logger: silentLogger,
      controllers: [confirmation],
    });
    controllers.start();
    const createdAt = '2026-01-01T00:00:00.000Z';
    for (const id of ['a', 'b']) {
      await node.log.propose({ op: 'capture', id, name: id, createdAt, checkedAt: 0, values: {} });
    }
    await node.log.propose({ op: 'activate', id: 'a' });
    await node.log.propose({ op: 'activate', id: 'b', confirmWithin: 10_000 });
  });

  afterEach(async () => {
    controllers.end();
    await node.close();
  });

  const active = () => node.state.view.active?.snapshotId;
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 250) {
      clock.advance(Math.min(left, 250));
      await settle();
    }
  };

  it('makes what was active before active again, once, and not before its time', async () => {
    await pass(9_900);
    expect(proposed).to.deep.equal([]);
    await pass(1_000);
    expect(active()).to.equal('a');
    expect(node.state.view.activations.at(-1)).to.include({ snapshotId: 'a', reason: 'not confirmed', by: null });
    expect(node.state.view.pending).to.equal(undefined);
    await pass(5_000);
    expect(proposed).to.have.lengthOf(1);
  });

  it('does nothing once it came', async () => {
    await node.log.propose({ op: 'confirm', id: 'b' });
    await pass(20_000);
    expect(active()).to.equal('b');
    expect(proposed).to.deep.equal([]);
  });

  it('is too late after the deadline, also before the way back was taken', async () => {
    leads = false;
    const index = node.state.view.pending?.index ?? 0;
    await pass(9_000);
    expect(confirmation.isOver(index, clock.monotonicMs())).to.equal(false);
    await pass(2_000);
    expect(confirmation.isOver(index, clock.monotonicMs())).to.equal(true);
    expect(confirmation.isOver(index + 1, clock.monotonicMs()), 'of an activation not seen yet').to.equal(false);
    // What no node could measure, the log refuses where its time leaves no doubt.
    await pass(30_000);
    expect(await node.log.propose({ op: 'confirm', id: 'b' })).to.include({ status: 409 });
    expect(active()).to.equal('b');
    leads = true;
    await pass(500);
    expect(active()).to.equal('a');
  });

  it('is in time while the time that the node measured lasts, however far ahead log time jumped', async () => {
    await pass(2_000);
    // The latest stamp of a leader whose clock jumped.
    clock.step(30_000);
    await node.log.propose({
      op: 'capture',
      id: 'c',
      name: 'c',
      createdAt: '2026-01-01T00:00:00.000Z',
      checkedAt: 0,
      values: {},
    });
    expect(confirmation.isOver(node.state.view.pending?.index ?? 0, clock.monotonicMs())).to.equal(false);
    expect(await node.log.propose({ op: 'confirm', id: 'b' })).to.include({ status: 200 });
    await pass(20_000);
    expect(active()).to.equal('b');
  });

  it('is tried again, and not at once, when nothing could be agreed on', async () => {
    let fails = true;
    const attempts: number[] = [];
    const log = {
      leads: true,
      propose: (draft: Draft) => {
        attempts.push(clock.nowMs());
        return fails ? Promise.reject(new Error('no quorum')) : node.log.propose(draft);
      },
    };
    const failing = new LeaderControllers({
      log,
      view: node.state.view,
      clock,
      logger: silentLogger,
      controllers: [new ConfirmationController(alone())],
    });
    controllers.end();
    failing.start();
    await pass(13_000);
    fails = false;
    await pass(2_000);
    failing.end();
    expect(active()).to.equal('a');
    expect(attempts.length).to.be.within(3, 5);
  });

  it('ends in its time however the wall clock is set, also at a leader that took over meanwhile', async () => {
    const monotonic = clock;
    const skewed = {
      ahead: 0,
      nowMs: () => monotonic.nowMs() + skewed.ahead,
      monotonicMs: () => monotonic.monotonicMs(),
      after: (ms: number, run: () => void) => monotonic.after(ms, run),
    };
    controllers.end();
    const controllersOf = (log: { leads: boolean }) =>
      new LeaderControllers({
        log: {
          propose: (draft) => node.log.propose(draft),
          get leads() {
            return log.leads;
          },
        },
        view: node.state.view,
        clock: skewed,
        logger: silentLogger,
        controllers: [new ConfirmationController({ ...alone(), aheadMs: () => [-skewed.ahead] })],
      });
    const [first, second] = [{ leads: true }, { leads: false }];
    const both = [controllersOf(first), controllersOf(second)];
    for (const each of both) each.start();
    await pass(500);
    await node.log.propose({ op: 'activate', id: 'a', confirmWithin: 10_000 });
    skewed.ahead = hour;
    await pass(6_000);
    expect(active()).to.equal('a');
    skewed.ahead = -hour;
    first.leads = false;
    second.leads = true;
    await pass(3_500);
    expect(active()).to.equal('a');
    await pass(1_000);
    expect(active()).to.equal('b');
    for (const each of both) each.end();
  });

  const hour = 3_600_000;

  /** Node that starts now with that memory; its wall clock is off by `offMs`, that of the cluster is right. */
  const startedAgain = (memory: Notes, off: { ms: number }): LeaderControllers => {
    const shifted = {
      nowMs: () => clock.nowMs() + off.ms,
      monotonicMs: () => clock.monotonicMs(),
      after: (ms: number, run: () => void) => clock.after(ms, run),
    };
    const controller = new ConfirmationController({ aheadMs: () => [-off.ms], memory });
    const started = new LeaderControllers({
      log: { leads: true, propose: (draft) => node.log.propose(draft) },
      view: node.state.view,
      clock: shifted,
      logger: silentLogger,
      controllers: [controller],
    });
    started.start();
    return started;
  };

  for (const ms of [-hour, hour]) {
    it(`goes on with what is left after a restart by a clock that is ${ms / hour} h off`, async () => {
      controllers.end();
      const memory = new Notes();
      const before = startedAgain(memory, { ms: 0 });
      await pass(6_000);
      before.end();
      const after = startedAgain(memory, { ms });
      await pass(3_500);
      expect(active()).to.equal('b');
      await pass(1_500);
      expect(active()).to.equal('a');
      after.end();
    });
  }

  it('goes on with what is left after a restart while log time is ahead', async () => {
    controllers.end();
    // The latest stamp of a leader whose clock jumped.
    clock.step(30_000);
    await node.log.propose({ op: 'activate', id: 'a', confirmWithin: 10_000 });
    clock.step(-30_000);
    const memory = new Notes();
    const before = startedAgain(memory, { ms: 0 });
    await pass(6_000);
    before.end();
    const after = startedAgain(memory, { ms: 0 });
    await pass(3_500);
    expect(active()).to.equal('a');
    await pass(1_500);
    expect(active()).to.equal('b');
    after.end();
  });

  it('ends in its time at a node that heard of it when it was back', async () => {
    controllers.end();
    await pass(9_000);
    const after = startedAgain(new Notes(), { ms: -hour });
    await pass(500);
    expect(active()).to.equal('b');
    after.end();
    const right = startedAgain(new Notes(), { ms: 0 });
    await pass(1_000);
    expect(active()).to.equal('a');
    right.end();
  });

  it('runs at the leader alone', async () => {
    leads = false;
    await pass(60_000);
    expect(proposed).to.deep.equal([]);
  });

  it('takes no way back that belongs to an earlier activation', async () => {
    const stale: Draft = { op: 'revert', id: 'b', activation: node.state.view.pending?.index ?? 0 };
    await node.log.propose({ op: 'activate', id: 'b', confirmWithin: 5_000 });
    leads = false;
    await pass(20_000);
    expect(await node.log.propose(stale)).to.include({ status: 409 });
    expect(active()).to.equal('b');
  });
});
