import { expect } from 'chai';
import type { Message } from '../../../../raft/core/message.ts';
import { type Entry, emptyConfig } from '../../../../raft/core/types.ts';
import { type Job, LogWriter, mergeBatches } from '../../../../raft/driver/log-writer.ts';
import type { WriteBatch } from '../../../../raft/store/log-store.ts';

const entry = (index: number): Entry => ({ index, term: 1, time: 0, kind: 'noop' });
const indexesOf = ({ entries = [] }: WriteBatch) => entries.map(({ index }) => index);

function job(seq: number, index: number, round = 0): Job {
  return { seq, batch: { entries: [entry(index)], sync: true }, messages: round === 0 ? [] : [message(round)] };
}

function message(round: number): Message {
  return { clusterId: 'c', from: 'a#1', to: 'b#1', term: 1, type: 'heartbeat', commit: 0, round };
}

/** A disk that answers when the test says so, and a list of what followed. */
function writerOf(entriesMax = 100) {
  const disk: { batch: WriteBatch; done: (failure?: Error) => void }[] = [];
  const seen: string[] = [];
  const store = { write: (batch: WriteBatch, done: (failure?: Error) => void) => disk.push({ batch, done }) };
  const writer = new LogWriter(store, { entries: entriesMax, bytes: 1e9 }, () => 0, {
    written: (seq) => seen.push(`written ${seq}`),
    send: (sent) => seen.push(`send ${'round' in sent ? sent.round : ''}`),
    failed: ({ message: why }) => seen.push(`failed ${why}`),
    synced: () => undefined,
  });
  return { writer, disk, seen };
}

describe('log writer', () => {
  it('has one write under way and merges what arrives meanwhile', () => {
    const { writer, disk } = writerOf();
    for (const at of [1, 2, 3]) writer.add(job(at, at));
    expect(disk.map(({ batch }) => indexesOf(batch))).to.deep.equal([[1]]);
    disk[0]!.done();
    expect(disk.map(({ batch }) => indexesOf(batch))).to.deep.equal([[1], [2, 3]]);
  });

  it('bounds a batch', () => {
    const { writer, disk } = writerOf(2);
    for (const at of [1, 2, 3, 4]) writer.add(job(at, at));
    disk[0]!.done();
    expect(indexesOf(disk[1]!.batch)).to.deep.equal([2, 3]);
  });

  it('sends what asserts something durable after it is', () => {
    const { writer, disk, seen } = writerOf();
    writer.add(job(1, 1, 1));
    writer.add(job(2, 2, 2));
    writer.sendWhenWritten([message(3)]);
    expect(seen).to.deep.equal([]);
    disk[0]!.done();
    expect(seen).to.deep.equal(['written 1', 'send 1']);
    disk[1]!.done();
    expect(seen).to.deep.equal(['written 1', 'send 1', 'written 2', 'send 2', 'send 3']);
  });

  it('sends at once when nothing is under way', () => {
    const { writer, seen } = writerOf();
    writer.sendWhenWritten([message(4)]);
    expect(seen).to.deep.equal(['send 4']);
  });

  it('says and writes nothing more after a failed write', () => {
    const { writer, disk, seen } = writerOf();
    writer.add(job(1, 1, 1));
    writer.add(job(2, 2, 2));
    disk[0]!.done(new Error('no space'));
    expect([seen, disk.length]).to.deep.equal([['failed no space'], 1]);
  });

  it('begins a batch with the installation of a checkpoint', () => {
    const { writer, disk } = writerOf();
    const meta = { index: 9, term: 1, time: 0, file: 'f', size: 1, sha256: 'x' };
    writer.add(job(1, 1));
    writer.add(job(2, 2));
    writer.add({
      seq: 3,
      batch: { install: { meta: { ...meta, config: emptyConfig }, generation: 2 }, sync: true },
      messages: [],
    });
    disk[0]!.done();
    expect(disk[1]!.batch).to.not.have.property('install');
    disk[1]!.done();
    expect(disk[2]!.batch).to.have.nested.property('install.meta.index', 9);
  });
});

describe('merged batches', () => {
  it('drop entries that a later one replaces, and truncate where the earliest does', () => {
    const merged = mergeBatches([
      { entries: [entry(4), entry(5), entry(6)], truncateFrom: 4, sync: true },
      { entries: [entry(5)], truncateFrom: 5, sync: false },
    ]);
    expect([indexesOf(merged), merged.truncateFrom, merged.sync]).to.deep.equal([[4, 5], 4, true]);
  });

  it('keep the newest of what is stored once', () => {
    const at = (term: number): WriteBatch => ({ hardState: { term, vote: undefined, commit: 0 }, sync: false });
    expect(mergeBatches([at(1), at(2), { sync: false }])).to.have.nested.property('hardState.term', 2);
  });
});
