// Faults of one node of three while clients write (raft.md C6, rows 6, 7, 9 and 11): its disk is full, its files are
// damaged while it is down, its store is gone, its main thread stands still. The others go on, and nothing is lost.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { drawnRandom, pause, repeatFor, say, secondsOf } from '../support/long-run.ts';
import { needs } from '../support/needs.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { RegisterClients } from '../support/register-clients.ts';
import { newFolder } from '../support/sluice-process.ts';
import { expectLinearizable, expectSameState } from '../support/verdict.ts';

const preload = new URL('../support/trouble.mjs', import.meta.url).pathname;

describe('one node of three in trouble under load', function () {
  this.timeout(900_000);
  const random = drawnRandom();
  const folder = newFolder();
  const trouble = (nodeId: string) => join(folder, `trouble-${nodeId}`);
  let cluster: NodeCluster;
  let clients: RegisterClients;

  beforeEach(async () => {
    cluster = await NodeCluster.start({
      env: (nodeId) => ({ NODE_OPTIONS: `--import=${preload}`, SLUICE_TROUBLE: trouble(nodeId) }),
    });
    await cluster.leader();
    clients = RegisterClients.start({ nodes: cluster.nodes.map(({ url }) => url), random, withinMs: 12_000 });
    await eventually(() => expect(clients.acknowledgedAt).to.have.length.greaterThan(50));
  });

  afterEach(async () => {
    await clients.stop().catch(() => undefined);
    await cluster.stop();
  });

  const expectWrites = async (): Promise<void> => {
    const before = clients.acknowledgedAt.length;
    await eventually(() => expect(clients.acknowledgedAt.length).to.be.greaterThan(before + 20));
  };

  for (const role of ['leader', 'follower'] as const) {
    it(`a ${role} whose disk is full leaves, and is back by itself once there is room`, async function () {
      needs(this, 'prlimit');
      const node = await nodeInRole(cluster, role);
      execFileSync('prlimit', ['--pid', String(node.process?.child.pid), '--fsize=1:']);
      await eventually(async () => expect((await fetch(`${node.url}/readyz`)).status).to.equal(503));
      await expectWrites();
      execFileSync('prlimit', ['--pid', String(node.process?.child.pid), '--fsize=unlimited:']);
      await eventually(async () => expect((await fetch(`${node.url}/readyz`)).status).to.equal(200), {
        withinMs: 20_000,
      });
      await expectWrites();
      // The node in trouble says 503 and nothing else; what it had taken may be unknown.
      say(JSON.stringify(await expectLinearizable(clients)));
      await expectSameState(cluster);
    });
  }

  it('a follower with a flipped byte in one of its files is refused or the same, and its sound files serve again', async () => {
    const verdicts = { sound: 0, refused: 0 };
    await repeatFor(secondsOf('FLIPPED_BYTES', 60), async () => {
      const node = await nodeInRole(cluster, 'follower');
      await node.stop('SIGKILL');
      const sound = join(newFolder(), 'sound');
      cpSync(node.storePath, sound, { recursive: true });
      const flipped = flipOneByte(node.storePath, random);
      const spoken = node.output.length;
      const isReady = await readyOrRefused(node, spoken);
      verdicts[isReady ? 'sound' : 'refused']++;
      if (!isReady) {
        say(`refused: ${flipped}`);
        await node.stop('SIGKILL');
        rmSync(node.storePath, { recursive: true });
        cpSync(sound, node.storePath, { recursive: true });
        await node.start();
      }
      await expectWrites();
    });
    say(`${JSON.stringify(verdicts)} ${JSON.stringify(await expectLinearizable(clients))}`);
    await expectSameState(cluster);
  });

  it('a node whose store is gone is replaced while clients write; its former store is refused', async () => {
    const node = await nodeInRole(cluster, 'follower');
    await node.stop('SIGKILL');
    const former = join(newFolder(), 'former');
    cpSync(node.storePath, former, { recursive: true });
    rmSync(node.storePath, { recursive: true });
    const started = node.start();
    const leader = await cluster.leader();
    await started;
    await eventually(async () => {
      const { status, body } = await leader.api.post(`/cluster/members/${node.nodeId}/replace`, { by: node.nodeId });
      expect(status, JSON.stringify(body)).to.equal(200);
    });
    await expectWrites();
    say(JSON.stringify(await expectLinearizable(clients)));
    await node.stop();
    const current = join(newFolder(), 'current');
    cpSync(node.storePath, current, { recursive: true });
    rmSync(node.storePath, { recursive: true });
    cpSync(former, node.storePath, { recursive: true });
    // The others do not know it any more, so it finds no leader and serves nothing.
    const unready = node.start().then(
      () => 'ready',
      () => 'ended',
    );
    expect(await Promise.race([unready, pause(8_000)])).to.equal(undefined);
    expect((await fetch(`${node.url}/readyz`)).status).to.equal(503);
    await node.stop('SIGKILL');
    rmSync(node.storePath, { recursive: true });
    cpSync(current, node.storePath, { recursive: true });
    await node.start();
    await expectSameState(cluster);
  });

  it('a leader whose main thread stands still for 3 s stays the leader', async () => {
    const leader = await cluster.leader();
    const { term } = (await leader.api.get<{ term: number }>('/cluster')).body;
    const socket = connect(trouble(leader.nodeId));
    socket.write('block');
    socket.resume();
    await once(socket, 'close');
    await pause(3_500);
    await expectWrites();
    const after = (await leader.api.get<{ term: number; leader: string }>('/cluster')).body;
    expect([after.term, after.leader]).to.deep.equal([term, leader.nodeId]);
    say(JSON.stringify(await expectLinearizable(clients)));
    await expectSameState(cluster);
  });
});

async function nodeInRole(cluster: NodeCluster, role: 'leader' | 'follower'): Promise<ClusterNode> {
  if (role === 'leader') return await cluster.leader();
  const [follower] = await cluster.followers();
  if (follower === undefined) throw new Error('no follower');
  return follower;
}

/** False: it says why it takes no part, whether it ends or stays for its traffic. */
function readyOrRefused(node: ClusterNode, spoken: number): Promise<boolean> {
  const started = node.start().then(
    () => true,
    () => false,
  );
  const refused = eventually(() => {
    expect(node.output.slice(spoken).join('\n')).to.match(/"level":(50|60)/);
    return false;
  });
  return Promise.race([started, refused.catch(() => started)]);
}

/** Gives the name of the file and the offset. */
function flipOneByte(storePath: string, random: () => number): string {
  const files = readdirSync(storePath, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/(^|\/)(LOCK|LOG|LOG\.old)$/.test(name))
    .filter((name) => statSync(join(storePath, name)).isFile() && statSync(join(storePath, name)).size > 0);
  const name = files[Math.floor(random() * files.length)] ?? '';
  const bytes = readFileSync(join(storePath, name));
  const at = Math.floor(random() * bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
  writeFileSync(join(storePath, name), bytes);
  return `${name} at ${at} of ${bytes.length}`;
}
