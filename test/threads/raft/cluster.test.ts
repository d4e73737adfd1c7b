import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

import type { Config } from '../../../raft/core/types.ts';
import { readMarker } from '../../../raft/store/markers.ts';
import { eventually } from '../../support/eventually.ts';
import { inDirectory, reopen } from '../../unit/raft/store/log-directory.ts';
import { commit, leaderOf, peersOf, startAll, TestMember, type TestOptions } from './members.ts';

describe('members that form a cluster', () => {
  it('are created once, by one of them, and agree', () =>
    together(async ({ start }) => {
      const members = start(...(await peersOf('a', 'b', 'c')));
      await commit(members, 'one');
      await eventually(() => expect(members.map(({ words }) => words)).to.deep.equal([['one'], ['one'], ['one']]));
      expect(new Set(members.map((each) => each.member.status()?.clusterId)).size).to.equal(1);
      expect(members.flatMap(({ notices }) => notices).filter((text) => text.startsWith('creates'))).to.have.length(1);
    }));

  it('elect their creator at once: no time-out passes before', () =>
    together(async ({ start }) => {
      const settings = { electionTicks: 100_000 };
      const members = start(...(await peersOf('c', 'a', 'b')).map((each) => ({ ...each, settings })));
      const leader = await leaderOf(members);
      expect(leader.options.nodeId).to.equal('a');
      await commit(members, 'one');
    }));

  it('stop while they take their place, and leave a log that can be opened at once', () =>
    together(async ({ start, directory }) => {
      const [a, b] = await peersOf('a', 'b');
      const [, joining] = start(a!, b!);
      await new Promise<void>((stopped) => {
        joining!.notice = (text) => {
          if (text.startsWith('joins')) joining!.stop().then(stopped);
        };
      });
      const { verdict, identity } = await reopen(join(directory, 'b'));
      expect(verdict).to.deep.equal({ kind: 'clean' });
      expect(identity.clusterId).to.be.a('string');
    }));

  it('wait for the last of the list before there is a cluster', () =>
    together(async ({ start }) => {
      const [a, b, c] = await peersOf('a', 'b', 'c');
      const two = start(a!, b!);
      await eventually(() => expect(two[0]?.notices).to.include('no cluster yet: not met yet: c'));
      const [third] = start(c!);
      await commit([...two, third!], 'one');
    }));

  it('elect another when the leader stops, and keep what was committed', () =>
    together(async ({ start }) => {
      const members = start(...(await peersOf('a', 'b', 'c')));
      const { leader: first } = await commit(members, 'one');
      await first.stop();
      const others = members.filter((each) => each !== first);
      await commit(others, 'two');
      await eventually(() =>
        expect(others.map(({ words }) => words)).to.deep.equal([
          ['one', 'two'],
          ['one', 'two'],
        ]),
      );
    }));

  it('read what was acknowledged anywhere', () =>
    together(async ({ start }) => {
      const members = start(...(await peersOf('a', 'b', 'c')));
      const written = await commit(members, 'one');
      for (const member of members) {
        const index = await eventually(async () => {
          const found = await member.read();
          expect(found).to.be.a('number');
          return found ?? 0;
        });
        expect(index).to.be.at.least(written.index);
      }
    }));

  it('bring a node up to date by a checkpoint when the entries it needs are gone', () =>
    together(async ({ start }) => {
      const settings = { checkpointEntries: 10, trailingEntries: 2, lagFactor: 1 };
      const options = (await peersOf('a', 'b', 'c')).map((each) => ({ ...each, settings }));
      const members = start(...options);
      const first = await leaderOf(members);
      const late = members.find((each) => each !== first)!;
      await late.stop();
      const others = members.filter((each) => each !== late);
      for (let n = 0; n < 60; n++) await commit(others, `word ${n}`);
      await eventually(() => {
        for (const each of others) expect(each.member.status()?.firstIndex).to.be.greaterThan(20);
      });
      const [again] = start({ ...options[members.indexOf(late)]!, applied: late.applied });
      await eventually(() => expect(again?.words).to.deep.equal(others[0]?.words));
      expect(again?.generation).to.equal(2);
    }));

  it('take a node back that may have lost its tail, once a leader has shown that it did not', () =>
    together(async ({ start, directory }) => {
      const options = await peersOf('a', 'b', 'c');
      const members = start(...options);
      const { leader } = await commit(members, 'one');
      const at = members.findIndex((each) => each !== leader);
      await members[at]?.stop();
      const place = join(directory, options[at]!.nodeId);
      await rm(join(place, 'WITNESS'));
      const [again] = start({ ...options[at]!, applied: members[at]!.applied });
      await eventually(() => expect(again?.report?.verdict.kind).to.equal('suspect'));
      await eventually(async () => {
        // Once it is trusted again it may lead like the others.
        await commit([...members.filter((each) => each !== members[at]), again!], 'a write shows it');
        expect(await readMarker(place, 'SUSPECT')).to.equal(undefined);
      });
      await eventually(() => expect(again?.notices.join()).to.match(/suspicion is settled/));
    }));
});

describe('from one node to three', () => {
  it('a node that ran alone takes its name, meets two empty ones and promotes them', () =>
    together(async ({ start, directory }) => {
      const [n1, n2, n3] = await peersOf('n1', 'n2', 'n3');
      const single = new TestMember(join(directory, 'n1'));
      await (await leaderOf([single])).propose('from the time alone');
      await single.stop();

      const members = start({ ...n1!, applied: single.applied }, n2!, n3!);
      expect((await leaderOf(members)).id).to.match(/^n1#/);
      for (const name of ['n2', 'n3']) {
        const id = await eventually(async () => idIn((await leaderOf(members)).lastRole?.config, name));
        // The leader may have changed; the fate of an attempt that is still unknown is seen in the configuration.
        await eventually(async () => {
          const leader = await leaderOf(members);
          if (leader.lastRole?.config.voters.includes(id)) return;
          expect(await leader.change({ op: 'promote', id })).to.include({ kind: 'committed' });
        });
      }
      await eventually(async () => {
        const { config } = (await leaderOf(members)).lastRole ?? {};
        expect(config?.voters.map((id) => id.split('#')[0])).to.deep.equal(['n1', 'n2', 'n3']);
      });
      await eventually(() => expect(members[2]?.words).to.deep.equal(['from the time alone']));
    }));

  it('two clusters refuse each other and name both', () =>
    together(async ({ start, directory }) => {
      const [a, b] = await peersOf('a', 'b');
      const alone = [new TestMember(join(directory, 'a')), new TestMember(join(directory, 'b'))];
      for (const each of alone) await leaderOf([each]);
      for (const each of alone) await each.stop();
      const [one, two] = start({ ...a!, applied: alone[0]!.applied }, { ...b!, applied: alone[1]!.applied });
      await eventually(() => {
        const [ofOne, ofTwo] = [one, two].map((each) => each?.member.status()?.clusterId);
        const words = [one, two].flatMap((each) => each?.warnings ?? []).join();
        expect(words).to.include(`a belongs to cluster ${ofOne}, b to cluster ${ofTwo}`);
      });
    }));
});

function idIn(config: Config | undefined, name: string): string {
  const id = config?.learners.find((each) => each.startsWith(`${name}#`));
  if (id === undefined) throw new Error(`${name} is no learner`);
  return id;
}

interface Together {
  readonly directory: string;
  readonly start: (...options: TestOptions[]) => TestMember[];
}

/** Runs `use` and stops afterwards what it started; a node id that is started again uses its directory again. */
function together(use: (tools: Together) => Promise<void>): Promise<void> {
  return inDirectory(async (directory) => {
    const started: TestMember[] = [];
    const start = (...options: TestOptions[]) => {
      const members = startAll(directory, options);
      started.push(...members);
      return members;
    };
    try {
      await use({ directory, start });
    } finally {
      await Promise.all(started.map((member) => member.stop()));
    }
  });
}
