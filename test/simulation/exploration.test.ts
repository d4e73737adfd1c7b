import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

import { explore } from '../../raft/testing/explore/explore.ts';
import type { Bounds } from '../../raft/testing/explore/small-world.ts';

const small: Bounds = {
  ...{ nodes: 3, elections: 2, proposals: 1, heartbeats: 0 },
  ...{ crashes: 0, duplicates: 0, writesAtOnce: true },
};

/** `least`: fewer states than that would mean that something is not gone through any more. */
const worlds: readonly (readonly [string, Bounds, number, number])[] = [
  ['two elections, two proposals', { ...small, proposals: 2 }, 10, 15_000],
  ['two elections and a heartbeat', { ...small, heartbeats: 1 }, 9, 10_000],
  ['three elections', { ...small, elections: 3 }, 8, 10_000],
  ['two elections, a message twice', { ...small, duplicates: 1 }, 8, 10_000],
  ['two elections, late writes and a crash', { ...small, crashes: 1, writesAtOnce: false }, 11, 15_000],
];

/** Bugs that need no luck to be found in worlds as small as these, by the options of the command. */
const planted = [
  ['count own match before sync', ['--late-writes', '--crashes', '1']],
  ['forget the vote on restart', ['--late-writes', '--crashes', '1', '--heartbeats', '0']],
  ['heartbeat commits beyond match', ['--heartbeats', '1']],
] as const;

describe('raft in every way that a small cluster can go', () => {
  for (const [name, bounds, depth, least] of worlds) {
    it(`keeps every promise with ${name}, ${depth} actions deep`, () => {
      const limits = { depth, states: Number.POSITIVE_INFINITY, isOver: () => false };
      const { broken, isComplete, states } = explore(bounds, limits);
      expect(broken && `${broken.message}\n${broken.way.join('\n')}`).to.equal(undefined);
      expect(isComplete).to.equal(true);
      expect(states).to.be.greaterThan(least);
    });
  }

  for (const [bug, options] of planted) {
    it(`finds the planted bug "${bug}"`, () => {
      const place = (path: string) => fileURLToPath(new URL(`../../raft/testing/${path}`, import.meta.url));
      const args = ['--import', place('mutants/plant.ts'), place('commands/explore.ts'), '--depth', '11', ...options];
      const { status, stderr } = spawnSync(process.execPath, args, {
        env: { ...process.env, RAFT_MUTANT: bug },
        encoding: 'utf8',
      });
      expect(status, stderr).to.equal(1);
      expect(stderr).to.match(/^(B\d+|LOST): .*\n {2}campaign n1#1\n/);
    });
  }
});
