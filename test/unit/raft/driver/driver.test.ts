// One driver between a clock that a test moves, a disk that answers at once, and a host that applies what it is given.
import { expect } from 'chai';
import type { DiskProblem } from '../../../../disk/disk-problem.ts';
import type { Message } from '../../../../raft/core/message.ts';
import { type CheckpointMeta, type Entry, emptyConfig, type Index } from '../../../../raft/core/types.ts';
import { RaftDriver } from '../../../../raft/driver/driver.ts';
import type { Committed, Host, Outcome } from '../../../../raft/driver/driver-host.ts';
import { type DriverSettings, defaultDriverSettings } from '../../../../raft/driver/driver-settings.ts';
import type { WriteBatch } from '../../../../raft/store/log-store.ts';
import { HandClock } from '../member/hand-clock.ts';

const self = { id: 'a#1', address: '', clientAddress: '' };
const peer = { id: 'b#1', address: 'b', clientAddress: '' };
const third = { id: 'c#1', address: 'c', clientAddress: '' };

class Bench {
  readonly clock = new HandClock();
  readonly written: WriteBatch[] = [];
  readonly sent: Message[] = [];
  readonly asked: Index[] = [];
  applied: Index = 1;
  /** Writes begin and do not end. */
  isFrozen = false;
  readonly held: (() => void)[] = [];
  rejection: DiskProblem | undefined;
  fatal: (reason: string) => void = (reason) => expect.fail(reason);
  readonly told: (string | undefined)[] = [];
  readonly outcomes: Outcome[] = [];
  readonly driver: RaftDriver;

  constructor(members: readonly (typeof self)[], settings: Partial<DriverSettings> = {}, suspect = false) {
    const config = { ...emptyConfig, voters: members.map(({ id }) => id), members };
    const rejection = (): DiskProblem | undefined => this.rejection;
    const first: Entry = { kind: 'config', index: 1, term: 1, time: 0, config };
    this.driver = new RaftDriver(
      {
        settings: { ...defaultDriverSettings, clusterId: 'c', id: self.id, ...settings },
        store: {
          write: (batch, done) => {
            const end = (): void => {
              this.written.push(batch);
              done(undefined);
            };
            if (this.isFrozen) this.held.push(end);
            else this.clock.soon(end);
          },
          poison: (reason) => expect.fail(reason),
          place: '/raft',
          get problem(): DiskProblem | undefined {
            return rejection();
          },
        },
        checkpoints: { read: () => expect.fail(), collect: () => expect.fail(), prune: () => undefined },
        transport: {
          ...{ start: () => undefined, setPeers: () => undefined, close: () => undefined },
          send: (message) => this.sent.push(message),
        },
        clock: this.clock,
        rng: { below: () => 0 },
        host: this.#host(),
      },
      {
        identity: { nodeId: 'a', incarnation: 1, clusterId: 'c' },
        verdict: suspect ? { kind: 'suspect', reason: 'torn' } : { kind: 'clean' },
        ...{ boots: 2, generation: 0 },
        boot: {
          hardState: { term: 1, vote: undefined, commit: 1 },
          ...{ base: { index: 0, term: 0 }, entries: [first], checkpoint: undefined, suspect },
        },
      },
      this.applied,
    );
    this.driver.start();
  }

  #host(): Host {
    return {
      committed: (batch: Committed) => {
        this.applied = batch.last;
        this.clock.soon(() => this.driver.applied(batch.last));
      },
      makeCheckpoint: () => this.asked.push(this.applied),
      disk: (problem) => this.told.push(problem?.reason),
      fatal: (reason) => this.fatal(reason),
      outcome: (_, outcome) => this.outcomes.push(outcome),
      ...{ readable: () => undefined, role: () => undefined },
      ...{ install: () => undefined, adopt: () => undefined, discard: () => undefined },
    };
  }

  async propose(count: number, bytes: number): Promise<void> {
    for (let id = 1; id <= count; id += 1) {
      this.driver.alive();
      this.driver.propose(id, new Uint8Array(bytes));
      await this.clock.advance(10);
    }
  }

  async checkpoint(index: Index): Promise<void> {
    const image: Omit<CheckpointMeta, 'config'> = { index, term: 2, time: 0, file: `${index}`, size: 1, sha256: 'x' };
    this.driver.checkpointWritten(image);
    await this.clock.advance(10);
  }
}

describe('the driver', () => {
  it('asks for a checkpoint after so many bytes, however few entries they are, and keeps no more of them', async () => {
    const bench = new Bench([self], { checkpointBytes: 100_000 });
    await bench.clock.advance(3_000);
    expect(bench.driver.inspect().role).to.equal('leader');
    await bench.propose(9, 10_000);
    expect(bench.asked).to.deep.equal([]);
    await bench.propose(3, 10_000);
    expect(bench.asked).to.have.length(1);
    await bench.propose(9, 10_000);
    await bench.checkpoint(bench.applied);
    expect(bench.asked).to.have.length(1);
    expect(bench.driver.inspect().log.base.index).to.equal(bench.applied - 10);
  });

  it('writes the end of a suspicion with the term it rests on, before the first answer that counts', async () => {
    const bench = new Bench([self, peer, third], {}, true);
    bench.driver.receive({
      ...{ clusterId: 'c', from: peer.id, to: self.id, term: 3, type: 'append', prevIndex: 1, prevTerm: 1 },
      ...{ commit: 2, sendSeq: 1, youAcked: 0, vouchedBoot: 2 },
      entries: [{ kind: 'noop', index: 2, term: 3, time: 0 }],
    });
    const heartbeat = { clusterId: 'c', from: peer.id, to: self.id, term: 3, commit: 0, round: 1 };
    bench.driver.receive({ ...heartbeat, type: 'heartbeat' });
    expect(bench.driver.isSuspect).to.equal(true);
    await bench.clock.advance(0);
    const [batch, ...others] = bench.written;
    expect([batch?.trusted, batch?.hardState?.term, batch?.sync, others.length]).to.deep.equal([true, 3, true, 0]);
    expect(bench.driver.isSuspect).to.equal(false);
    const counting = bench.sent.filter((message) => 'suspect' in message && !message.suspect);
    expect(counting.map(({ type }) => type)).to.deep.equal(['appendResp', 'heartbeatResp']);
  });

  it('says nothing that counts while the end of its suspicion is not on disk', () => {
    const bench = new Bench([self, peer, third], {}, true);
    bench.driver.receive({
      ...{ clusterId: 'c', from: peer.id, to: self.id, term: 3, type: 'append', prevIndex: 1, prevTerm: 1 },
      ...{ commit: 2, sendSeq: 1, youAcked: 0, vouchedBoot: 2 },
      entries: [{ kind: 'noop', index: 2, term: 3, time: 0 }],
    });
    expect(bench.sent).to.deep.equal([]);
    expect(bench.driver.isSuspect).to.equal(true);
  });

  it('steps down and refuses while a write is late, however long, and goes on when it ends', async () => {
    const bench = new Bench([self]);
    await bench.clock.advance(3_000);
    expect(bench.driver.inspect().role).to.equal('leader');
    bench.isFrozen = true;
    bench.driver.alive();
    bench.driver.propose(1, new Uint8Array(10));
    await bench.clock.advance(60_000);
    expect(bench.told).to.deep.equal(['a write to /raft has been under way for more than 3 s']);
    expect([bench.driver.inspect().role, bench.driver.isDead]).to.deep.equal(['follower', false]);
    bench.driver.propose(2, new Uint8Array(10));
    expect(bench.outcomes.at(-1)).to.deep.equal({ kind: 'notApplied', why: 'disk late' });

    bench.isFrozen = false;
    for (const end of bench.held.splice(0)) end();
    for (let at = 0; at < 30; at += 1) {
      bench.driver.alive();
      await bench.clock.advance(100);
    }
    expect(bench.told.at(-1)).to.equal(undefined);
    expect(bench.driver.inspect().role).to.equal('leader');
    const before = bench.applied;
    bench.driver.propose(3, new Uint8Array(10));
    await bench.clock.advance(100);
    expect(bench.applied).to.equal(before + 1);
  });

  it('steps down after a second where the write was rejected and is made again', async () => {
    const bench = new Bench([self]);
    await bench.clock.advance(3_000);
    bench.isFrozen = true;
    bench.driver.alive();
    bench.driver.propose(1, new Uint8Array(10));
    bench.rejection = { kind: 'rejected', reason: 'no room' };
    await bench.clock.advance(900);
    expect(bench.told).to.deep.equal([]);
    await bench.clock.advance(300);
    expect([bench.told, bench.driver.inspect().role]).to.deep.equal([['no room'], 'follower']);
  });

  it('takes no append while a write is late: what cannot be written does not gather', async () => {
    const bench = new Bench([self, peer, third]);
    const append = (prevIndex: Index): Message => ({
      ...{
        clusterId: 'c',
        from: peer.id,
        to: self.id,
        term: 3,
        type: 'append',
        prevIndex,
        prevTerm: prevIndex > 1 ? 3 : 1,
      },
      ...{ commit: 1, sendSeq: prevIndex, youAcked: 0, vouchedBoot: 0 },
      entries: [{ kind: 'noop', index: prevIndex + 1, term: 3, time: 0 }],
    });
    bench.isFrozen = true;
    bench.driver.receive(append(1));
    await bench.clock.advance(4_000);
    bench.driver.receive(append(2));
    expect(bench.driver.inspect().log.lastIndex).to.equal(2);
    bench.isFrozen = false;
    for (const end of bench.held.splice(0)) end();
    await bench.clock.advance(200);
    bench.driver.receive(append(2));
    expect(bench.driver.inspect().log.lastIndex).to.equal(3);
  });

  it('poisons nothing over a mistake of the program: what is on disk is not in doubt', async () => {
    const bench = new Bench([self]);
    await bench.clock.advance(3_000);
    const ended: string[] = [];
    bench.fatal = (reason) => ended.push(reason);
    bench.driver.applied(1_000_000);
    bench.driver.checkpointWritten({ index: 1_000_000, term: 2, time: 0, file: 'x', size: 1, sha256: 'x' });
    await bench.clock.advance(100);
    expect(ended).to.have.length(1);
    expect(bench.driver.isDead).to.equal(true);
  });
});
