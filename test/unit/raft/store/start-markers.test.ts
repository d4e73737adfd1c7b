import { copyFile, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

import { readMarker } from '../../../../raft/store/markers.ts';
import { eventually } from '../../../support/eventually.ts';
import { rejection } from '../../../support/rejection.ts';
import { appendBatch, inDirectory, journalFile, reopen, storeIn, writeLog } from './log-directory.ts';

describe('what one start leaves for the next', () => {
  it('a poisoned node stays poisoned, for the first reason', () =>
    inDirectory(async (directory) => {
      const store = storeIn(directory);
      await store.open();
      store.poison('no space left');
      await eventually(async () => expect(await readMarker(directory, 'POISON')).to.equal('no space left'));
      await store.close({ clean: false });
      expect((await reopen(directory)).verdict).to.deep.equal({ kind: 'poisoned', reason: 'no space left' });
    }));

  it('nothing of a poisoned log is used', () =>
    inDirectory(async (directory) => {
      await writeLog(directory, [appendBatch(1, 5)]);
      await truncate(await journalFile(directory), 300);
      const { verdict, boot } = await reopen(directory);
      expect(verdict.kind).to.equal('poisoned');
      expect(boot.entries).to.deep.equal([]);
    }));

  it('a suspicion outlives restarts until it is settled', () =>
    inDirectory(async (directory) => {
      await writeLog(directory, [appendBatch(1, 5)], { clean: false });
      await rm(join(directory, 'WITNESS'));
      expect((await reopen(directory)).boot.suspect).to.equal(true);
      expect((await reopen(directory)).boot.suspect).to.equal(true);
      const store = storeIn(directory);
      await store.open();
      await store.trust();
      await store.close({ clean: false });
      expect((await reopen(directory)).verdict.kind).to.equal('clean');
    }));

  it('an older database beside a newer witness is found out', () =>
    inDirectory(async (older) => {
      await writeLog(older, [appendBatch(1, 2)]);
      await inDirectory(async (newer) => {
        await writeLog(newer, [appendBatch(1, 2), appendBatch(3, 1)]);
        await copyFile(join(newer, 'WITNESS'), join(older, 'WITNESS'));
      });
      expect((await reopen(older)).verdict).to.deep.equal({
        kind: 'poisoned',
        reason: 'batch 4 was durable, the log ends with batch 3',
      });
    }));

  it('a lock whose files are damaged or gone is made anew: nothing else is in it', () =>
    inDirectory(async (directory) => {
      await writeLog(directory, [appendBatch(1, 5)]);
      const lock = join(directory, 'lock');
      const damages = [
        () => writeFile(join(lock, 'CURRENT'), 'MANIFEST-000099\n'),
        () => writeFile(join(lock, 'CURRENT'), ''),
        () => rm(join(lock, 'CURRENT')),
        async () => {
          const manifest = (await readFile(join(lock, 'CURRENT'), 'utf8')).trim();
          await writeFile(join(lock, manifest), Buffer.alloc(50, 7));
        },
      ];
      for (const damage of damages) {
        await damage();
        const { verdict, boot } = await reopen(directory);
        expect([verdict.kind, boot.entries.length]).to.deep.equal(['clean', 5]);
      }
    }));

  it('a damaged lock that another process holds is still held', () =>
    inDirectory(async (directory) => {
      const store = storeIn(directory);
      await store.open();
      await writeFile(join(directory, 'lock', 'CURRENT'), 'MANIFEST-000099\n');
      expect((await rejection(storeIn(directory).open())).message).to.match(/in use by another process/);
      await store.close({ clean: true });
    }));

  it('a log that the system does not let be read is refused and not poisoned: that may pass', () =>
    inDirectory(async (directory) => {
      await writeLog(directory, [appendBatch(1, 5)]);
      const journal = join(directory, 'journal');
      await rename(journal, `${journal}.away`);
      await writeFile(journal, 'no directory');
      expect((await rejection(reopen(directory))).message).to.match(/ENOTDIR/);
      expect(await readMarker(directory, 'POISON')).to.equal(undefined);
      await rm(journal);
      await rename(`${journal}.away`, journal);
      const { verdict, boot } = await reopen(directory);
      expect([verdict.kind, boot.entries.length]).to.deep.equal(['clean', 5]);
    }));

  it('a directory that another process holds is refused and not poisoned', () =>
    inDirectory(async (directory) => {
      const store = storeIn(directory);
      await store.open();
      await rejection(storeIn(directory).open());
      expect(await readMarker(directory, 'POISON')).to.equal(undefined);
      await store.close({ clean: true });
    }));
});
