// A leader that takes no writes, because its disk is nearly full or its state cannot be written: another node may take them.
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/needs.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { SmallDisk } from '../support/small-disk.ts';

describe('a leader that takes no writes', () => {
  const disks = new Map<string, SmallDisk>();
  let cluster: NodeCluster;

  before(async function () {
    needs(this, 'prlimit');
    cluster = await NodeCluster.prepare();
    for (const { nodeId, folder } of cluster.nodes) {
      const disk = new SmallDisk(folder);
      disks.set(nodeId, disk);
      disk.mount(this, '160m');
    }
    await Promise.all(cluster.nodes.map((node) => node.start()));
  });

  after(async () => {
    await cluster?.stop();
    for (const disk of disks.values()) disk.unmount();
  });

  const expectWritesThrough = async (nodes: readonly ClusterNode[], name: string): Promise<void> => {
    for (const { nodeId, api } of nodes) {
      await eventually(async () => {
        const { status, body } = await api.post('/groups', { name: `${name}-${nodeId}` });
        expect(status, JSON.stringify(body)).to.be.oneOf([201, 409]);
      });
    }
  };

  for (const count of [2, 1]) {
    it(`hands over while ${count} of three disks are nearly full, and every node takes writes`, async () => {
      const leader = await cluster.leader();
      const full = [leader, ...cluster.nodes.filter((node) => node !== leader)].slice(0, count);
      // Below a fiftieth of it, and room for many small writes.
      for (const { nodeId } of full) disks.get(nodeId)?.fill(256);
      try {
        await expectWritesThrough(cluster.nodes, `full-${count}`);
        // A node that has not measured its disk yet may lead until it has.
        await eventually(async () =>
          expect(full.map(({ nodeId }) => nodeId)).not.to.include((await cluster.leader()).nodeId),
        );
      } finally {
        for (const { nodeId } of full) disks.get(nodeId)?.empty();
      }
    });
  }

  it('hands over while its state cannot be written, and the others take writes', async () => {
    const body = { directResponse: { status: 200, body: 'x'.repeat(1_000_000) } };
    for (const half of ['a', 'b']) {
      const operations = Array.from({ length: 5 }, (_, at) => ({
        ...{ op: 'create', kind: 'routes' },
        body: { ...body, name: `large-${half}${at}` },
      }));
      await eventually(async () => {
        const { status } = await (await cluster.leader()).api.post('/batch', { operations });
        expect(status).to.be.oneOf([200, 409]);
      });
    }
    // A new start begins a new file of the log, which stays short.
    for (const node of cluster.nodes) {
      await node.stop();
      await node.start();
    }
    const leader = await cluster.leader();
    const others = cluster.nodes.filter((node) => node !== leader);
    const pid = String(leader.process?.child.pid);
    execFileSync('prlimit', ['--pid', pid, '--fsize=9000000:']);
    // Short in the log, and longer in the state than a file may be.
    await eventually(async () => {
      const { status } = await leader.api.post('/snapshots', { name: 'long' });
      expect(status).to.be.oneOf([201, 409, 503]);
    });
    await expectWritesThrough(others, 'waits');
    execFileSync('prlimit', ['--pid', pid, '--fsize=unlimited:']);
    await expectWritesThrough(cluster.nodes, 'again');
  });
});
