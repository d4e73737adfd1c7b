import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

import { listCheckpoints } from '../../../raft/store/checkpoint-files.ts';
import { eventually } from '../../support/eventually.ts';
import { inDirectory, reopen } from '../../unit/raft/store/log-directory.ts';
import { commit, leaderOf, TestMember, type TestOptions } from './members.ts';

describe('a member on its own', () => {
  it('founds a cluster of one and commits', () =>
    alone(async (start) => {
      const member = await start();
      await commit([member], 'one');
      await eventually(async () => expect(await member.read()).to.be.a('number'));
      expect(member.words).to.deep.equal(['one']);
    }));

  it('goes on where it stopped, without applying anything twice', () =>
    alone(async (start) => {
      const first = await start();
      await commit([first], 'one');
      await first.stop();
      const second = await start({ applied: first.applied });
      expect(second.report).to.deep.include({ clusterId: first.report?.clusterId ?? first.member.status()?.clusterId });
      await commit([second], 'two');
      await eventually(() => expect(second.words).to.deep.equal(['two']));
    }));

  it('hands out again what the state has not made durable', () =>
    alone(async (start) => {
      const first = await start();
      await commit([first], 'one');
      await first.stop();
      const second = await start({ applied: { index: 0, term: 0 } });
      await eventually(() => expect(second.words).to.deep.equal(['one']));
    }));

  it('compacts behind a checkpoint', () =>
    alone(async (start) => {
      const member = await start({ settings: { checkpointEntries: 8, trailingEntries: 2 } });
      for (let n = 0; n < 40; n++) await commit([member], `word ${n}`);
      await eventually(() => expect(member.member.status()?.firstIndex).to.be.greaterThan(5));
      await member.stop();
      const again = await start({ applied: member.applied });
      await commit([again], 'after');
      expect(again.fatalReason).to.equal(undefined);
    }));

  it('replaces a checkpoint that was damaged at rest by a new one', () =>
    alone(async (start, directory) => {
      const settings = { checkpointEntries: 8, trailingEntries: 2 };
      const member = await start({ settings });
      for (let n = 0; n < 20; n++) await commit([member], `word ${n}`);
      const place = join(directory, 'checkpoints');
      await eventually(() => expect(member.member.status()?.firstIndex).to.be.greaterThan(1));
      await member.stop();
      const damaged = (await reopen(directory)).boot.checkpoint?.file ?? '';
      await writeFile(join(place, damaged), 'not what it was');
      const again = await start({ applied: member.applied });
      expect(again.notices.join()).to.include(damaged);
      await commit([again], 'one more');
      await eventually(async () => expect((await listCheckpoints(place))[0]).not.to.equal(damaged));
      expect(again.fatalReason).to.equal(undefined);
    }));

  it('builds on a state that was written before there was a log', () =>
    alone(async (start, directory) => {
      const member = await start({ applied: { index: 100, term: 0 } });
      await commit([member], 'first of the log');
      expect(member.applied.index).to.be.greaterThan(101);
      await eventually(() => expect(member.member.status()?.checkpoint?.index).to.be.greaterThan(100));
      await member.stop();
      const { boot } = await reopen(directory);
      expect(boot.base).to.deep.equal({ index: 100, term: 1 });
      expect(boot.checkpoint?.file).to.match(/checkpoint$/);
    }));

  it('refuses a state that is ahead of the log, then and for ever', () =>
    alone(async (start, directory) => {
      const first = await start();
      await first.stop();
      const ahead = new TestMember(directory, { applied: { index: 900, term: 2 } });
      await eventually(() => expect(ahead.fatalReason).to.match(/holds entry 900, the log ends at/));
      await ahead.stop();
      const later = new TestMember(directory, { applied: first.applied });
      await eventually(() => expect(later.fatalReason).to.match(/holds entry 900/));
      await later.stop();
    }));

  it('refuses a log that is gone beneath a state', () =>
    alone(async (_start, directory) => {
      const cluster = { peers: [{ nodeId: 'a', address: '127.0.0.1:1' }] };
      const member = new TestMember(directory, { nodeId: 'a', cluster, applied: { index: 7, term: 3 } });
      await eventually(() => expect(member.fatalReason).to.match(/holds entry 7, the log is empty/));
      await member.stop();
    }));

  it('says so when it begins a new log behind a state whose log is gone', () =>
    alone(async (start) => {
      const member = await start({ applied: { index: 7, term: 3 } });
      expect(member.notices.join()).to.match(/creates cluster \w+, behind entry 7 of a log that is gone/);
      await commit([member], 'first of the log');
      expect(member.applied.index).to.be.greaterThan(8);
    }));

  it('does not lead as the only voter on a log that may have lost its tail', () =>
    alone(async (start, directory) => {
      const first = await start();
      await commit([first], 'one');
      await first.stop();
      await rm(join(directory, 'WITNESS'));
      const suspect = new TestMember(directory, { applied: first.applied });
      await eventually(() => expect(suspect.fatalReason).to.match(/only voter may have lost its last writes/));
      await suspect.stop();
      await rm(join(directory, 'SUSPECT'));
      await commit([await start({ applied: first.applied })], 'two');
    }));

  it('reports a directory that is none, and answers everything with a refusal', () =>
    inDirectory(async (parent) => {
      await writeFile(join(parent, 'file'), 'in the way');
      const member = new TestMember(join(parent, 'file'));
      await eventually(() => expect(member.fatalReason).to.match(/ENOTDIR|EEXIST/));
      expect(await member.propose('one')).to.deep.equal({ kind: 'notApplied', why: 'not leader' });
      expect(await member.read()).to.equal(undefined);
      await member.stop();
    }));
});

type Start = (options?: TestOptions) => Promise<TestMember>;

/** `start` gives a member that leads; what was started is stopped afterwards. */
function alone(use: (start: Start, directory: string) => Promise<void>): Promise<void> {
  return inDirectory(async (directory) => {
    const started: TestMember[] = [];
    const start: Start = async (options) => {
      const member = new TestMember(directory, options);
      started.push(member);
      return leaderOf([member]);
    };
    try {
      await use(start, directory);
    } finally {
      for (const member of started) await member.stop();
    }
  });
}
