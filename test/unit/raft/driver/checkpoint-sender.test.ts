import { expect } from 'chai';
import { type CheckpointMeta, emptyConfig } from '../../../../raft/core/types.ts';
import { CheckpointSender } from '../../../../raft/driver/checkpoint-sender.ts';

const meta: CheckpointMeta = {
  ...{ index: 9, term: 1, time: 0, config: emptyConfig },
  ...{ file: '9.checkpoint', size: 60, sha256: 'x' },
};
const limits = { chunkBytes: 10, window: 2, bytesPerSecond: 1_000, retryMs: 1_000, timeoutMs: 30_000 };

/** A transfer that began at 0 ms, ticking every 100 ms up to a time. */
function sending() {
  const said: string[] = [];
  const reader = {
    read: (_offset: number, length: number, done: (data: Uint8Array) => void) => done(new Uint8Array(length)),
    close: () => said.push('closed'),
  };
  const store = {
    read: () => reader,
    collect: () => expect.fail('nothing is collected'),
    prune: () => undefined,
  };
  const link = {
    offer: () => said.push('offer'),
    chunk: (_peer: string, _transfer: number, offset: number) => said.push(`chunk at ${offset}`),
    failed: () => said.push('failed'),
  };
  const sender = new CheckpointSender('b#1', meta, 1, store, limits, link, 0);
  const tickUntil = (ms: number, isAwaited: boolean): void => {
    for (let now = 100; now <= ms; now += 100) sender.tick(now, 100, isAwaited);
  };
  return { sender, said, tickUntil };
}

describe('sender of a checkpoint', () => {
  it('offers again and again to a peer that does not answer, and gives up after its time', () => {
    const { said, tickUntil } = sending();
    tickUntil(30_000, false);
    expect(said.length).to.be.greaterThan(20);
    expect(new Set(said)).to.deep.equal(new Set(['offer']));
    tickUntil(30_100, false);
    expect(said.slice(-2)).to.deep.equal(['closed', 'failed']);
  });

  // Two peers that were gone kept both transfers for 30 s each, and a third that the quorum needed waited (seed 953068).
  it('gives its place up after 3 s without progress when another peer waits for it', () => {
    const { said, tickUntil } = sending();
    tickUntil(3_000, true);
    expect(said).not.to.include('failed');
    tickUntil(3_100, true);
    expect(said).to.include('failed');
  });

  it('keeps its place while the peer makes progress, and while it builds its state from all that it has', () => {
    const { sender, said, tickUntil } = sending();
    for (const [offset, now] of [[0, 0] as const, [20, 2_500] as const]) sender.acked(offset, false, now);
    tickUntil(5_000, true);
    expect(said).not.to.include('failed');
    sender.acked(meta.size, false, 5_000);
    tickUntil(30_000, true);
    expect(said).not.to.include('failed');
  });
});
