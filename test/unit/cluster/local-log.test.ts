import { expect } from 'chai';
import { batchBytesMax, LocalLog } from '../../../src/cluster/local-log.ts';
import type { Committed, FromLog } from '../../../src/cluster/log-port.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('LocalLog', () => {
  let log: LocalLog;
  let received: FromLog[];
  let ids: number;

  const propose = (...sizes: number[]) => {
    for (const size of sizes) log.post({ type: 'propose', id: ++ids, bytes: new Uint8Array(size) });
  };
  const batches = () =>
    received
      .filter((message): message is Committed => message.type === 'committed')
      .map(({ first, last }) => [first, last]);

  beforeEach(() => {
    received = [];
    ids = 0;
    log = new LocalLog({ nodeId: 'single', applied: 7, clock: new ManualClock(5) });
    log.receive((message) => received.push(message));
  });

  it('leads from the start and goes on after the last applied index', async () => {
    propose(1, 1);
    await turn();
    expect(received).to.deep.equal([
      { type: 'role', role: 'leader', leader: 'single' },
      { type: 'outcome', id: 1, index: 8 },
      { type: 'outcome', id: 2, index: 9 },
      {
        type: 'committed',
        first: 8,
        last: 9,
        logTime: 5,
        entries: [
          { index: 8, bytes: new Uint8Array(1) },
          { index: 9, bytes: new Uint8Array(1) },
        ],
      },
    ]);
  });

  it('hands one batch out at a time', async () => {
    propose(1);
    await turn();
    propose(1, 1);
    await turn();
    expect(batches()).to.deep.equal([[8, 8]]);
    log.post({ type: 'applied', index: 8 });
    await turn();
    expect(batches()).to.deep.equal([
      [8, 8],
      [9, 10],
    ]);
  });

  it('keeps a batch below its size, and lets a larger command go alone', async () => {
    propose(batchBytesMax - 1, 1, 1, batchBytesMax + 1, 1);
    for (const applied of [9, 10, 11, 12]) {
      await turn();
      log.post({ type: 'applied', index: applied });
    }
    expect(batches()).to.deep.equal([
      [8, 9],
      [10, 10],
      [11, 11],
      [12, 12],
    ]);
  });

  it('answers a read with what is applied, not with what is on its way', async () => {
    propose(1);
    await turn();
    log.post({ type: 'read', id: 1 });
    log.post({ type: 'applied', index: 8 });
    log.post({ type: 'read', id: 2 });
    await turn();
    const readable = received.filter(({ type }) => type === 'readable');
    expect(readable).to.deep.equal([
      { type: 'readable', id: 1, index: 7 },
      { type: 'readable', id: 2, index: 8 },
    ]);
  });

  it('says when it is stopped what became of each write', async () => {
    propose(1);
    await turn();
    propose(1);
    log.post({ type: 'stop' });
    propose(1);
    await turn();
    const refused = received.flatMap((message) =>
      message.type === 'outcome' && 'refused' in message ? [[message.id, message.refused.outcome]] : [],
    );
    expect(refused).to.have.deep.members([
      [1, 'unknown'],
      [2, 'not-applied'],
      [3, 'not-applied'],
    ]);
    log.post({ type: 'applied', index: 8 });
    await turn();
    expect(batches()).to.deep.equal([[8, 8]]);
  });
});
