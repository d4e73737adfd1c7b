import { expect } from 'chai';
import type { Member, MemberStatus } from '../../../../raft/index.ts';
import { CorruptionCheck } from '../../../../src/cluster/state-hash/corruption-check.ts';
import type { Hashes } from '../../../../src/cluster/state-hash/hash-verdict.ts';
import { silentLogger } from '../../../../src/telemetry/logger.ts';
import { ClusterOf, statusOfFour } from '../../../support/cluster-of.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const turns = async (): Promise<void> => {
  for (let at = 0; at < 10; at++) await new Promise((resolve) => setImmediate(resolve));
};

/** Node `a` of four; `answers` by member id. */
function nodeOf(own: Hashes, answers: Record<string, Hashes>, status: MemberStatus | 'of no cluster' = statusOfFour) {
  const seen: string[] = [];
  const clock = new ManualClock();
  const comparison = new CorruptionCheck({
    cluster: new ClusterOf(status === 'of no cluster' ? undefined : status),
    own: () => own,
    ask: async ({ id }: Member) => {
      seen.push(`asks ${id}`);
      return answers[id];
    },
    condemn: (reason) => seen.push(`condemned: ${reason}`),
    observer: {
      stateCompared: (index) => seen.push(`compared ${index}`),
      stateDiffers: () => seen.push('differs'),
    },
    logger: { ...silentLogger, error: ({ node }) => seen.push(`error: ${node}`) },
    clock,
  });
  const pass = async (ms: number): Promise<string[]> => {
    clock.advance(ms);
    await turns();
    return seen.splice(0);
  };
  return { comparison, pass };
}

const same = new Map([[40, 'x']]);
const other = new Map([[40, 'y']]);
const asked = ['asks b#2', 'asks c#3', 'asks d#4'];

describe('comparing the state of nodes', () => {
  it('begins soon after this node is ready, and goes on once a minute', async () => {
    const { comparison, pass } = nodeOf(same, { 'b#2': same });
    expect(await pass(100_000)).to.deep.equal([]);
    comparison.start();
    expect(await pass(1_000)).to.deep.equal([...asked, 'compared 40']);
    expect(await pass(59_000)).to.deep.equal([]);
    expect(await pass(1_000)).to.deep.equal([...asked, 'compared 40']);
    comparison.end();
    expect(await pass(600_000)).to.deep.equal([]);
  });

  it('ends the part of a node that stands against a majority, once', async () => {
    const { comparison, pass } = nodeOf(same, { 'b#2': other, 'c#3': other });
    comparison.start();
    expect(await pass(1_000)).to.deep.equal([
      ...asked,
      'compared 40',
      'differs',
      'condemned: the state of this node at index 40 is not what a majority holds: replace this node',
    ]);
    expect(await pass(600_000)).to.deep.equal([]);
  });

  it('raises an alarm about another node each time, and goes on', async () => {
    const { comparison, pass } = nodeOf(same, { 'b#2': same, 'd#4': other });
    comparison.start();
    const alarm = [...asked, 'compared 40', 'differs', 'error: d'];
    expect(await pass(1_000)).to.deep.equal(alarm);
    expect(await pass(60_000)).to.deep.equal(alarm);
  });

  it('says nothing when no node answers, or this node has no cluster', async () => {
    const lonely = nodeOf(same, {});
    lonely.comparison.start();
    expect(await lonely.pass(1_000)).to.deep.equal(asked);
    const outside = nodeOf(same, { 'b#2': other }, 'of no cluster');
    outside.comparison.start();
    expect(await outside.pass(1_000)).to.deep.equal([]);
  });
});
