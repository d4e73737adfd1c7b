// Snapshots are taken while clients edit on every node without a pause: edits wait for the check, not the other way round.
import { expect } from 'chai';
import { NodeCluster } from '../support/node-cluster.ts';
import { body } from '../support/resources.ts';

const editorsPerNode = 2;
const rounds = 3;

describe('a capture beside uninterrupted edits', () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start();
    await cluster.leader();
  });

  after(() => cluster.stop());

  it('succeeds at the third try at the latest, on every node, and no edit fails', async () => {
    let ended = false;
    const statuses = new Set<number>();
    const editors = cluster.nodes.flatMap(({ nodeId, api }) =>
      Array.from({ length: editorsPerNode }, async (_, editor) => {
        for (let count = 0; !ended; count += 1) {
          const { status } = await api.post('/groups', body('groups', `${nodeId}-${editor}-${count}`));
          statuses.add(status);
        }
      }),
    );
    for (let round = 0; round < rounds; round += 1) {
      for (const { nodeId, api } of cluster.nodes) {
        const { status } = await api.post('/snapshots', { name: `${nodeId} ${round}` });
        expect(status, `${nodeId}, round ${round}`).to.equal(201);
      }
    }
    ended = true;
    await Promise.all(editors);
    expect([...statuses]).to.deep.equal([201]);
    for (const { nodeId, output } of cluster.nodes) {
      const tries = output.filter((line) => line.includes('changed while it was checked'));
      const late = tries.filter((line) => !/"attempt":[12],/.test(line));
      expect(late, `${nodeId}: ${tries.length} tries came too late`).to.deep.equal([]);
    }
  });
});
