import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';

import { emptyConfig } from '../../../../raft/core/types.ts';
import { rejection } from '../../../support/rejection.ts';
import {
  appendBatch,
  checkpointAt,
  entriesFrom,
  inDirectory,
  reopen,
  storeIn,
  write,
  writeLog,
} from './log-directory.ts';

describe('the log store', () => {
  it('gives an empty directory an identity that stays', () =>
    inDirectory(async (directory) => {
      const first = await reopen(directory);
      expect(first.verdict.kind).to.equal('clean');
      expect(first.identity).to.deep.include({ nodeId: 'a', incarnation: 77, clusterId: undefined });
      expect(first.boot).to.deep.include({ base: { index: 0, term: 0 }, entries: [] });
      expect((await reopen(directory)).identity).to.deep.equal(first.identity);
    }));

  it('counts every start', () =>
    inDirectory(async (directory) => {
      expect((await reopen(directory)).boots).to.equal(1);
      expect((await reopen(directory)).boots).to.equal(2);
    }));

  it('gives back entries and hard state', () =>
    inDirectory(async (directory) => {
      await writeLog(directory, [appendBatch(1, 3), appendBatch(4, 2, { term: 2, commit: 3 })]);
      const { boot, verdict } = await reopen(directory);
      expect(verdict.kind).to.equal('clean');
      expect(boot.entries).to.deep.equal([...entriesFrom(1, 3), ...entriesFrom(4, 2, 2)]);
      expect(boot.hardState).to.deep.equal({ term: 2, vote: 'a#77', commit: 3 });
    }));

  it('is clean after a process that was killed', () =>
    inDirectory(async (directory) => {
      await writeLog(directory, [appendBatch(1, 3)], { clean: false });
      const { verdict, boot } = await reopen(directory);
      expect(verdict.kind).to.equal('clean');
      expect(boot.entries).to.have.length(3);
    }));

  it('refuses a log of LevelDB, as states before the first release had, and marks nothing', () =>
    inDirectory(async (directory) => {
      const database = new ClassicLevel(join(directory, 'log'));
      await database.open();
      await database.close();
      expect((await rejection(reopen(directory))).message).to.match(/holds a log of a state before the first release/);
      expect(await readdir(directory)).to.have.members(['lock', 'log']);
    }));

  it('leaves nothing behind of a suffix that a conflict replaced by a shorter one', () =>
    inDirectory(async (directory) => {
      await writeLog(directory, [appendBatch(1, 10), { ...appendBatch(4, 2, { term: 2 }), truncateFrom: 4 }]);
      const { boot, verdict } = await reopen(directory);
      expect(verdict.kind).to.equal('clean');
      expect(boot.entries).to.deep.equal([...entriesFrom(1, 3), ...entriesFrom(4, 2, 2)]);
    }));

  it('carries a lone advance of the commit with the next synced batch', () =>
    inDirectory(async (directory) => {
      const store = storeIn(directory);
      await store.open();
      await write(store, appendBatch(1, 3));
      await write(store, { hardState: { term: 1, vote: 'a#77', commit: 2 }, sync: false });
      await write(store, { entries: entriesFrom(4, 1), sync: true });
      await store.close({ clean: false });
      expect((await reopen(directory)).boot.hardState.commit).to.equal(2);
    }));

  it('forgets compacted entries', () =>
    inDirectory(async (directory) => {
      const cover = { checkpoint: checkpointAt(1_500), compactTo: { index: 1_500, term: 1 }, sync: true };
      await writeLog(directory, [appendBatch(1, 1_600), cover, appendBatch(1_601, 1)]);
      const { boot, verdict } = await reopen(directory);
      expect(verdict.kind).to.equal('clean');
      expect(boot.base).to.deep.equal({ index: 1_500, term: 1 });
      expect(boot.entries.map((entry) => entry.index)).to.deep.equal(entriesFrom(1_501, 101).map((each) => each.index));
    }));

  it('replaces everything by an installed checkpoint in one batch', () =>
    inDirectory(async (directory) => {
      const install = { meta: checkpointAt(50, 4), generation: 9 };
      const after = { install, hardState: { term: 5, vote: undefined, commit: 50 }, entries: entriesFrom(51, 2, 5) };
      await writeLog(directory, [appendBatch(1, 20), { ...after, sync: true }]);
      const { boot, generation, verdict } = await reopen(directory);
      expect(verdict.kind).to.equal('clean');
      expect(generation).to.equal(9);
      expect(boot.base).to.deep.equal({ index: 50, term: 4 });
      expect(boot.checkpoint).to.deep.equal(checkpointAt(50, 4));
      expect(boot.entries).to.deep.equal(entriesFrom(51, 2, 5));
    }));

  it('creates a cluster with entry 1, or takes a place in one without', () =>
    inDirectory(async (directory) => {
      const store = storeIn(directory);
      await store.open();
      await store.join('ab'.repeat(16), { ...emptyConfig, voters: ['a#77'] });
      await store.close({ clean: true });
      const { boot, identity } = await reopen(directory);
      expect(identity.clusterId).to.equal('ab'.repeat(16));
      expect(boot.entries.map((entry) => entry.kind)).to.deep.equal(['config']);
      expect(boot.hardState).to.deep.equal({ term: 1, vote: undefined, commit: 1 });
    }));

  it('writes nothing more after one failure', () =>
    inDirectory(async (directory) => {
      const store = storeIn(directory);
      await store.open();
      const gap = await rejection(write(store, appendBatch(5, 1)));
      expect(gap.message).to.match(/does not follow/);
      store.poison('a write failed');
      expect((await rejection(write(store, appendBatch(1, 1)))).message).to.equal('a write failed');
      await store.close({ clean: true });
    }));

  it('has one batch outstanding: the system may reorder two', () =>
    inDirectory(async (directory) => {
      const store = storeIn(directory);
      await store.open();
      const first = rejection(write(store, appendBatch(1, 1)));
      expect((await rejection(write(store, appendBatch(2, 1)))).message).to.match(/two batches/);
      // It had not been handed to the journal yet, and nothing is after a failure.
      expect((await first).message).to.match(/two batches/);
      await store.close({ clean: false });
    }));

  it('gives back an entry of many megabytes, which is written in turns of its own', () =>
    inDirectory(async (directory) => {
      const store = storeIn(directory);
      await store.open();
      const payload = new Uint8Array(3 * 1024 * 1024).fill(7);
      const entries = entriesFrom(1, 1).map((entry) => (entry.kind === 'command' ? { ...entry, payload } : entry));
      await write(store, { ...appendBatch(1, 1), entries });
      await store.close({ clean: true });
      const { boot, verdict } = await reopen(directory);
      expect(verdict.kind).to.equal('clean');
      expect(boot.entries).to.deep.equal(entries);
    }));

  it('refuses another batch while a large one is prepared', () =>
    inDirectory(async (directory) => {
      const store = storeIn(directory);
      await store.open();
      const payload = new Uint8Array(3 * 1024 * 1024);
      const entries = entriesFrom(1, 1).map((entry) => (entry.kind === 'command' ? { ...entry, payload } : entry));
      const first = rejection(write(store, { ...appendBatch(1, 1), entries }));
      expect((await rejection(write(store, appendBatch(2, 1)))).message).to.match(/two batches/);
      // After a failure nothing is written any more, not even what came before it.
      expect((await first).message).to.match(/two batches/);
      await store.close({ clean: false });
    }));
});
