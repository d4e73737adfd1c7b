// Nodes on file systems that forget what was not synced, names of files and folders included (losing-fs.c), and that are slow
// or fail. The store path itself is made by the program, two folders below what is mounted.
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { drawnRandom, pause, say } from '../support/long-run.ts';
import { LosingDisk } from '../support/losing-disk.ts';
import { needs } from '../support/needs.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { RegisterClients } from '../support/register-clients.ts';
import { expectLinearizable, expectSameState } from '../support/verdict.ts';

describe('nodes on disks that keep no more than POSIX promises', function () {
  this.timeout(900_000);
  const random = drawnRandom();
  let cluster: NodeCluster;
  let disks: Map<string, LosingDisk>;
  let clients: RegisterClients | undefined;

  before(function () {
    needs(this, '/dev/fuse', 'gcc', 'pkg-config', 'fusermount3');
    if (LosingDisk.lacks === undefined) return;
    process.stderr.write(`left out, needs ${LosingDisk.lacks}: nodes on disks that keep no more than POSIX promises\n`);
    this.skip();
  });

  beforeEach(async () => {
    disks = new Map();
    cluster = await NodeCluster.prepare({ storeBelow: 'made/by/the/program' });
    for (const { nodeId, folder } of cluster.nodes) disks.set(nodeId, LosingDisk.mount(join(folder, 'data')));
    await Promise.all(cluster.nodes.map((node) => node.start()));
    await cluster.leader();
    clients = RegisterClients.start({ nodes: cluster.nodes.map(({ url }) => url), random, withinMs: 12_000 });
    await expectWrites();
  });

  afterEach(async () => {
    await clients?.stop().catch(() => undefined);
    clients = undefined;
    await cluster?.stop();
    for (const disk of disks?.values() ?? []) disk.remove();
    disks = new Map();
  });

  const diskOf = ({ nodeId }: ClusterNode): LosingDisk => {
    const disk = disks.get(nodeId);
    if (disk === undefined) throw new Error(`no disk of ${nodeId}`);
    return disk;
  };

  const expectWrites = async (): Promise<void> => {
    const before = clients?.acknowledgedAt.length ?? 0;
    await eventually(() => expect(clients?.acknowledgedAt.length).to.be.greaterThan(before + 10));
  };

  const isReady = async ({ url }: ClusterNode): Promise<boolean> =>
    (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) })).status === 200;

  const expectReady = async (): Promise<void> => {
    for (const node of cluster.nodes) await eventually(async () => expect(await isReady(node)).to.equal(true));
  };

  const expectNothingLost = async (): Promise<void> => {
    if (clients !== undefined) say(JSON.stringify(await expectLinearizable(clients)).slice(0, 200));
    await expectSameState(cluster);
    expect(cluster.nodes.flatMap(({ output }) => output).filter((line) => line.includes('POISON'))).to.deep.equal([]);
  };

  it('lose nothing acknowledged when the power of all three fails again and again', async () => {
    const cuts = Number(process.env.SLUICE_POWER_CUTS ?? 10);
    for (let cut = 0; cut < cuts; cut++) {
      await pause(random() * 400);
      await Promise.all(cluster.nodes.map((node) => node.stop('SIGKILL')));
      for (const disk of disks.values()) disk.cutPower();
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await expectWrites();
    }
    const suspects = cluster.nodes.flatMap(({ output }) => output).filter((line) => line.includes('log is suspect'));
    say(`${cuts} cuts of three nodes, ${suspects.length} nodes suspect`);
    await expectNothingLost();
  });

  for (const whose of ['one', 'all'] as const) {
    const affected = async (): Promise<readonly ClusterNode[]> =>
      whose === 'one' ? [await cluster.leader()] : cluster.nodes;

    it(`go on by themselves when ${whose === 'one' ? 'the disk of the leader' : 'all disks'} failed for a while`, async () => {
      const nodes = await affected();
      for (const node of nodes) diskOf(node).fail(true);
      for (const node of nodes) await eventually(async () => expect(await isReady(node)).to.equal(false));
      if (whose === 'one') await expectWrites();
      await pause(2_000);
      for (const node of nodes) diskOf(node).fail(false);
      await expectWrites();
      await expectReady();
      await expectNothingLost();
    });

    it(`go on when ${whose === 'one' ? 'the disk of the leader is' : 'all disks are'} slow`, async () => {
      const nodes = await affected();
      for (const node of nodes) diskOf(node).slow(whose === 'one' ? 1_500 : 200);
      await expectWrites();
      for (const node of nodes) diskOf(node).slow(0);
      await expectReady();
      await expectWrites();
      await expectNothingLost();
    });
  }
});
