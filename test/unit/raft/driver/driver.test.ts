// One driver between a clock that a test moves, a disk that answers at once, and a host that applies what it is given.
import { expect } from 'chai';
import type { Message } from '../../../../raft/core/message.ts';
import { type CheckpointMeta, type Entry, emptyConfig, type Index } from '../../../../raft/core/types.ts';
import { RaftDriver } from '../../../../raft/driver/driver.ts';
import type { Committed, Host } from '../../../../raft/driver/host.ts';
import { type DriverSettings, defaultDriverSettings } from '../../../../raft/driver/settings.ts';
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
  readonly driver: RaftDriver;

  constructor(members: readonly (typeof self)[], settings: Partial<DriverSettings> = {}, suspect = false) {
    const config = { ...emptyConfig, voters: members.map(({ id }) => id), members };
    const first: Entry = { kind: 'config', index: 1, term: 1, time: 0, config };
    this.driver = new RaftDriver(
      {
        settings: { ...defaultDriverSettings, clusterId: 'c', id: self.id, ...settings },
        store: {
          write: (batch, done) => {
            this.clock.soon(() => {
              this.written.push(batch);
              done(undefined);
            });
          },
          poison: (reason) => expect.fail(reason),
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
      fatal: (reason) => expect.fail(reason),
      ...{ outcome: () => undefined, readable: () => undefined, role: () => undefined },
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
});
