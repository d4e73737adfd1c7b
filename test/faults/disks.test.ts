// Disks that stand still, are full, slow or fail, below one node and below all, with real file systems. A fault that
// passes by itself ends no node (decisions/late-writes.md): no node is restarted or removed here except where a test
// says so.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { drawnRandom, pause, say } from '../support/long-run.ts';
import { type FileSystem, LoopDisk } from '../support/loop-disk.ts';
import { needs } from '../support/needs.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { RegisterClients } from '../support/register-clients.ts';
import { launchSluice, newFolder, runSluice, startSluice } from '../support/sluice-process.ts';
import { expectLinearizable, expectSameState } from '../support/verdict.ts';

const frozenMs = 13_000;

describe('nodes on disks of their own', function () {
  this.timeout(300_000);
  const random = drawnRandom();
  let cluster: NodeCluster;
  let disks: Map<string, LoopDisk>;
  let clients: RegisterClients | undefined;

  before(function () {
    needs(this, '/dev/loop-control', 'mount', 'mkfs.ext4', 'mkfs.xfs', 'fsfreeze');
    if (LoopDisk.lacks !== undefined) {
      process.stderr.write(`left out, needs ${LoopDisk.lacks}: nodes on disks of their own\n`);
      this.skip();
    }
  });

  const start = async (fileSystem: FileSystem = 'ext4'): Promise<void> => {
    disks = new Map();
    cluster = await NodeCluster.prepare();
    for (const { nodeId, storePath } of cluster.nodes) disks.set(nodeId, LoopDisk.mount(storePath, fileSystem));
    await Promise.all(cluster.nodes.map((node) => node.start()));
    await cluster.leader();
    clients = RegisterClients.start({ nodes: cluster.nodes.map(({ url }) => url), random, withinMs: 12_000 });
    await expectWrites();
  };

  afterEach(async () => {
    for (const disk of disks?.values() ?? []) disk.thaw();
    await clients?.stop().catch(() => undefined);
    clients = undefined;
    await cluster?.stop();
    for (const disk of disks?.values() ?? []) disk.remove();
    disks = new Map();
  });

  const diskOf = ({ nodeId }: ClusterNode): LoopDisk => {
    const disk = disks.get(nodeId);
    if (disk === undefined) throw new Error(`no disk of ${nodeId}`);
    return disk;
  };

  const expectWrites = async (): Promise<void> => {
    const before = clients?.acknowledgedAt.length ?? 0;
    await eventually(() => expect(clients?.acknowledgedAt.length).to.be.greaterThan(before + 20));
  };

  const readiness = async ({ url }: ClusterNode): Promise<string> => {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    return `${answer.status} ${await answer.text()}`;
  };

  const expectReady = async (nodes: readonly ClusterNode[]): Promise<void> => {
    for (const node of nodes) {
      await eventually(async () => expect(await readiness(node)).to.match(/^200/));
      expect(existsSync(join(node.storePath, 'raft', 'POISON')), node.nodeId).to.equal(false);
    }
  };

  const expectNothingLost = async (): Promise<void> => {
    if (clients !== undefined) say(JSON.stringify(await expectLinearizable(clients)));
    await expectSameState(cluster);
  };

  for (const fileSystem of ['ext4', 'xfs'] as const) {
    it(`a leader whose ${fileSystem} stands still steps down and says so, the others go on, and it returns by itself`, async () => {
      await start(fileSystem);
      const leader = await cluster.leader();
      diskOf(leader).freeze();
      const frozenAt = performance.now();
      await eventually(async () =>
        expect(await readiness(leader)).to.equal('503 {"error":"not ready: storage waits"}'),
      );
      const refused = await leader.api.post('/routes', {
        name: 'refused',
        match: { path: '/' },
        directResponse: { status: 200 },
      });
      expect(refused.status).to.equal(503);
      expect(refused.body.error).to.match(/^storage waits: a write to .* has been under way for more than 3 s/);
      await expectWrites();
      await pause(Math.max(0, frozenMs - (performance.now() - frozenAt)));
      diskOf(leader).thaw();
      const thawedAt = performance.now();
      await expectReady(cluster.nodes);
      say(`ready ${Math.round(performance.now() - thawedAt)} ms after the thaw`);
      await expectWrites();
      await expectNothingLost();
    });
  }

  it('three nodes whose disks stand still at once answer again by themselves, seconds after the thaw', async () => {
    await start();
    for (const disk of disks.values()) disk.freeze();
    await pause(frozenMs);
    for (const node of cluster.nodes) expect(await readiness(node)).to.match(/^503/);
    for (const disk of disks.values()) disk.thaw();
    const thawedAt = performance.now();
    await expectWrites();
    say(`writes again ${Math.round(performance.now() - thawedAt)} ms after the thaw`);
    await expectReady(cluster.nodes);
    await expectNothingLost();
  });

  it('a node that is killed while its disk stands still starts again as after a crash', async () => {
    await start();
    const leader = await cluster.leader();
    diskOf(leader).freeze();
    await pause(frozenMs);
    const stopped = leader.stop('SIGKILL');
    // The system ends a process that waits for a disk when the disk answers.
    await pause(500);
    diskOf(leader).thaw();
    await stopped;
    await leader.start();
    await expectReady([leader]);
    await expectWrites();
    await expectNothingLost();
  });

  it('force-new-cluster takes what a node has whose disk stood still', async () => {
    await start();
    await clients?.stop();
    clients = undefined;
    const [node] = cluster.nodes as [ClusterNode, ...ClusterNode[]];
    for (const disk of disks.values()) disk.freeze();
    await pause(frozenMs);
    const stopped = cluster.stop();
    await pause(500);
    for (const disk of disks.values()) disk.thaw();
    await stopped;
    const done = await runSluice(['force-new-cluster', '--config', join(node.storePath, '..', 'sluice.yaml')]);
    expect([done.code, done.stderr]).to.deep.equal([0, '']);
  });

  it('a node whose disk is full says so, the others go on, and it returns by itself once there is room', async () => {
    await start();
    const leader = await cluster.leader();
    diskOf(leader).fill();
    await expectWrites();
    diskOf(leader).makeRoom();
    await expectReady(cluster.nodes);
    await expectWrites();
    await expectNothingLost();
  });

  it('three nodes whose disks are full refuse, and write again once there is room', async () => {
    await start();
    for (const disk of disks.values()) disk.fill();
    const [node] = cluster.nodes as [ClusterNode, ...ClusterNode[]];
    await eventually(async () => {
      const { status } = await node.api.post('/routes', {
        name: 'full',
        match: { path: '/' },
        directResponse: { status: 200 },
      });
      expect(status).to.be.oneOf([503, 504]);
    });
    for (const disk of disks.values()) disk.makeRoom();
    await expectWrites();
    await expectReady(cluster.nodes);
    await expectNothingLost();
  });

  it('a node of one restarts with no byte free: it serves, shows what it has, and writes again once there is room', async () => {
    const folder = newFolder();
    const disk = LoopDisk.mount(join(folder, 'data'));
    disks = new Map([['single', disk]]);
    cluster = await NodeCluster.prepare({ nodeIds: [] });
    let sluice = await startSluice({ folder });
    const api = apiClient(sluice.url);
    const port = await freePort();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    const kept = { name: 'kept', match: { path: '/kept' }, directResponse: { status: 200, body: 'kept' } };
    await api.create('routes', kept);
    await api.activateAs('v1');
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      disk.fill();
      expect(disk.freeBytes).to.equal(0);
      await sluice.stop(signal);
      disk.fill();
      const apiPort = await freePort();
      const launched = launchSluice({ folder, port: apiPort });
      const url = `http://127.0.0.1:${apiPort}`;
      try {
        await eventually(
          async () => expect(await (await fetch(`http://127.0.0.1:${port}/kept`)).text()).to.equal('kept'),
          {
            withinMs: 20_000,
          },
        );
        await eventually(async () => {
          const answer = await fetch(`${url}/readyz`);
          expect([answer.status, await answer.json()]).to.deep.equal([503, { error: 'not ready: storage waits' }]);
        });
        const client = apiClient(url);
        const refused = await client.post('/routes', { ...kept, name: `later-${signal}` });
        expect([refused.status, refused.body.error]).to.satisfy(
          ([status, error]: unknown[]) => status === 503 && /^storage waits: .*[Nn]o space left/.test(String(error)),
        );
        const { body } = await client.get<{ name: string }[]>('/routes?consistency=stale');
        expect(body.map(({ name }) => name)).to.deep.equal(['kept']);
        disk.makeRoom();
        await eventually(async () => expect((await fetch(`${url}/readyz`)).status).to.equal(200));
        const { id } = (await client.post<{ id: string }>('/routes', { ...kept, name: 'after' })).body;
        expect(id).to.be.a('string');
        await client.delete(`/routes/${id}`);
        expect((await client.get<unknown[]>('/routes')).body).to.have.length(1);
        expect(await (await fetch(`http://127.0.0.1:${port}/kept`)).text()).to.equal('kept');
      } finally {
        await launched.stop();
      }
      sluice = await startSluice({ folder });
    }
    await sluice.stop();
  });

  it('a node of one that starts while its disk stands still serves what it has, and takes writes after the thaw', async () => {
    const folder = newFolder();
    const disk = LoopDisk.mount(join(folder, 'data'));
    disks = new Map([['single', disk]]);
    cluster = await NodeCluster.prepare({ nodeIds: [] });
    const [apiPort, port] = [await freePort(), await freePort()];
    const first = await startSluice({ folder, port: apiPort });
    const api = apiClient(first.url);
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    const kept = { name: 'kept', match: { path: '/kept' }, directResponse: { status: 200, body: 'kept' } };
    await api.create('routes', kept);
    await api.activateAs('v1');
    await first.stop();
    disk.freeze();
    const launched = launchSluice({ folder, port: apiPort });
    launched.ready.catch(() => undefined);
    try {
      await eventually(async () =>
        expect(await (await fetch(`http://127.0.0.1:${port}/kept`)).text()).to.equal('kept'),
      );
      expect((await api.get<unknown[]>('/routes?consistency=stale')).body).to.have.length(1);
      const refused = await api.post('/routes', { ...kept, name: 'later' });
      expect(refused.status).to.equal(503);
      expect(refused.body.error).to.match(/^storage waits: a write to .* has been under way for more than 3 s/);
      disk.thaw();
      await eventually(async () => expect((await fetch(`${first.url}/readyz`)).status).to.equal(200));
      await api.create('routes', { ...kept, name: 'later' });
    } finally {
      disk.thaw();
      await launched.stop();
    }
  });

  it('three nodes restart with no byte free: they serve, and are a cluster again once there is room', async () => {
    await start();
    await clients?.stop();
    clients = undefined;
    const [first] = cluster.nodes as [ClusterNode, ...ClusterNode[]];
    const before = (await first.api.get<unknown[]>('/routes')).body.length;
    for (const disk of disks.values()) disk.fill();
    await cluster.stop();
    for (const disk of disks.values()) disk.fill();
    const starts = cluster.nodes.map((node) => node.start());
    for (const node of cluster.nodes) {
      await eventually(async () => expect(await readiness(node)).to.equal('503 {"error":"not ready: storage waits"}'), {
        withinMs: 20_000,
      });
      expect((await node.api.get<unknown[]>('/routes?consistency=stale')).status).to.equal(200);
    }
    for (const disk of disks.values()) disk.makeRoom();
    await Promise.all(starts);
    await expectReady(cluster.nodes);
    expect((await first.api.get<unknown[]>('/routes')).body.length).to.be.at.least(before);
    await expectSameState(cluster);
  });
});
