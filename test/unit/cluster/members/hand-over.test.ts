import { expect } from 'chai';
import { handOver } from '../../../../src/cluster/members/cluster.ts';
import { ClusterOf, statusOfFour, statusOfOne } from '../../../support/cluster-of.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Hands over and says whether that is done. */
function begin(cluster: ClusterOf) {
  const clock = new ManualClock();
  const seen = { done: false };
  void handOver(cluster, clock, 1_000).then(() => (seen.done = true));
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 10) {
      await turn();
      clock.advance(10);
    }
    await turn();
  };
  return { seen, pass };
}

describe('handing leadership over before a drain', () => {
  it('is done when another node leads', async () => {
    const cluster = new ClusterOf(statusOfFour);
    const { seen, pass } = begin(cluster);
    await pass(100);
    expect(cluster.transfers).to.deep.equal([undefined]);
    expect(seen.done).to.equal(false);
    cluster.now = { ...statusOfFour, role: 'follower', leader: undefined };
    await pass(100);
    expect(seen.done, 'nobody leads yet').to.equal(false);
    cluster.now = { ...statusOfFour, role: 'follower', leader: 'b#2' };
    await pass(20);
    expect(seen.done).to.equal(true);
  });

  it('takes no longer than it is given', async () => {
    const cluster = new ClusterOf(statusOfFour);
    const { seen, pass } = begin(cluster);
    await pass(990);
    expect(seen.done).to.equal(false);
    await pass(20);
    expect(seen.done).to.equal(true);
  });

  const nothingToDo = {
    'a follower': { ...statusOfFour, role: 'follower', leader: 'b#2' },
    'a cluster of one': statusOfOne,
    'a leader whose other voters are away': {
      ...statusOfFour,
      peers: statusOfFour.peers.map((peer) => ({ ...peer, heard: peer.id === 'd#4' })),
    },
    'a node without a cluster': undefined,
  } as const;
  for (const [what, status] of Object.entries(nothingToDo)) {
    it(`waits for nothing on ${what}`, async () => {
      const cluster = new ClusterOf(status);
      const { seen } = begin(cluster);
      await turn();
      expect(seen.done).to.equal(true);
      expect(cluster.transfers).to.deep.equal([]);
    });
  }
});
