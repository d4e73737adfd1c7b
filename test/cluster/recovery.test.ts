import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { newFolder, runSluice, spawnSluice } from '../support/sluice-process.ts';

const canary = 'canary-3f1c7a9e5b';
const key = Buffer.alloc(32, 7).toString('base64');
const settingsOf = ({ storePath }: ClusterNode): string => join(dirname(storePath), 'sluice.yaml');
const wipe = ({ storePath }: ClusterNode): void => rmSync(storePath, { recursive: true });

const filesBelow = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });

describe('backup, restore and a lost quorum', () => {
  let cluster: NodeCluster;
  const backup = join(newFolder(), 'cluster.backup');
  let revision = 0;
  let clusterId = '';

  before(async () => {
    cluster = await NodeCluster.start({ controlPlane: `  encryption: { key: "${key}" }\n` });
    const [node] = cluster.nodes;
    await node?.api.create('secrets', { name: 'canary', value: canary });
    const { headers } = (await node?.api.post('/groups', { id: 'g', name: 'backed up' })) ?? {};
    revision = Number(headers?.get('x-sluice-revision'));
    clusterId = (await (await cluster.leader()).overview()).clusterId;
  });

  after(() => cluster.stop());

  /** A started alone; the others, empty, join it and vote. */
  const grow = async (): Promise<void> => {
    const [first, ...others] = cluster.nodes;
    await first?.start();
    await Promise.all(others.map((node) => node.start()));
    for (const { nodeId } of others) {
      await eventually(async () =>
        expect((await first?.api.post(`/cluster/members/${nodeId}/promote`))?.status).to.equal(200),
      );
    }
  };

  it('backs up on a follower what was acknowledged, without a secret in plain text', async () => {
    const [follower] = await cluster.followers();
    const response = await fetch(`${follower?.url}/api/v1/cluster/backup`);
    const file = Buffer.from(await response.arrayBuffer());
    expect(response.status, file.subarray(0, 200).toString()).to.equal(200);
    expect(Number(response.headers.get('x-sluice-revision'))).to.be.at.least(revision);
    expect(file.includes(canary)).to.equal(false);
    writeFileSync(backup, file);
  });

  it('leaves the secret in no file of any node', () => {
    const files = cluster.nodes.flatMap(({ storePath }) => filesBelow(storePath));
    expect(files).not.to.have.length(0);
    for (const file of files) expect(readFileSync(file).includes(canary), file).to.equal(false);
  });

  it('restores into an empty node alone, and lets empty ones join', async () => {
    await Promise.all(cluster.nodes.map((node) => node.stop()));
    const [first] = cluster.nodes;
    if (first === undefined) throw new Error('no node');
    const refused = await runSluice(['restore', backup, '--config', settingsOf(first)]);
    expect(refused).to.deep.include({ code: 1 });
    expect(refused.stderr).to.match(/exists: restore into an empty store/);
    for (const node of cluster.nodes) wipe(node);
    const restored = await runSluice(['restore', backup, '--config', settingsOf(first)]);
    expect(restored, restored.stderr).to.include({ code: 0 });
    expect(restored.stdout).to.match(/^restored .+ as index \d+; start this node alone/);
    await grow();
    const overview = await first.overview();
    expect(overview.clusterId).not.to.equal(clusterId);
    for (const { api } of cluster.nodes) {
      const { body, headers } = await api.get('/groups/g');
      expect(body).to.include({ name: 'backed up' });
      expect(Number(headers.get('x-sluice-revision'))).to.be.above(1_000_000);
    }
    const { body } = await first.api.get<{ id: string }[]>('/secrets');
    expect((await first.api.get(`/secrets/${body[0]?.id}`)).body).to.include({ value: canary });
  });

  it('refuses a backup that was changed', async () => {
    const changed = readFileSync(backup);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const file = join(newFolder(), 'changed.backup');
    writeFileSync(file, changed);
    const settings = join(newFolder(), 'sluice.yaml');
    writeFileSync(settings, `controlPlane: { storePath: ${newFolder()}, encryption: { key: "${key}" } }\n`);
    const { code, stderr } = await runSluice(['restore', file, '--config', settings]);
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: 'sluice: the backup is damaged: its SHA-256 differs\n' });
  });

  it('goes on from one node when the others are lost for good', async () => {
    const [first, ...lost] = cluster.nodes;
    if (first === undefined) throw new Error('no node');
    await lost[0]?.api.create('groups', { id: 'late', name: 'late' });
    expect((await first.api.get('/groups/late')).status).to.equal(200);
    // At once: the log has the write, the state on disk follows a tenth of a second later.
    await first.stop('SIGKILL');
    for (const node of lost) {
      await node.stop('SIGKILL');
      wipe(node);
    }
    const { code, stdout, stderr } = await runSluice(['force-new-cluster', '--config', settingsOf(first)]);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/begins a new cluster at index \d+; what was agreed on after it is lost/);
    await grow();
    for (const { api } of cluster.nodes) expect((await api.get('/groups/late')).body).to.include({ name: 'late' });
    await lost[1]?.api.create('groups', { name: 'after' });
  });

  describe('a new cluster by force', () => {
    /** Node that caught up by a checkpoint, so that its state is not of the first generation. */
    let stopped: ClusterNode;
    let generation = '';

    before(async () => {
      const [, last] = await cluster.followers();
      if (last === undefined) throw new Error('no follower');
      stopped = last;
      await Promise.all(cluster.nodes.map((node) => node.stop()));
      [generation = ''] = readdirSync(join(stopped.storePath, 'state'));
      expect(generation).not.to.equal('1');
    });

    /** Copies the data of that node into a folder of its own, with settings that name it. */
    const copied = () => {
      const folder = newFolder();
      const storePath = join(folder, 'data');
      cpSync(stopped.storePath, storePath, { recursive: true });
      const config = join(folder, 'sluice.yaml');
      writeFileSync(config, readFileSync(settingsOf(stopped), 'utf8').replace(stopped.storePath, storePath));
      return { folder, storePath, config, force: () => runSluice(['force-new-cluster', '--config', config]) };
    };

    /** Begins it, and finds the writes there. */
    const expectBegun = async ({ config }: { readonly config: string }): Promise<void> => {
      const output: string[] = [];
      const child = spawnSluice(['--config', config]);
      createInterface({ input: child.stdout as Readable }).on('line', (line) => output.push(line));
      try {
        await eventually(async () => {
          const { status, body } = await stopped.api.get('/groups/late');
          expect(status, output.join('\n')).to.equal(200);
          expect(body).to.include({ name: 'late' });
        });
      } finally {
        child.kill('SIGKILL');
        await once(child, 'close');
      }
    };

    it('is refused where nothing is, and makes nothing there', async () => {
      const { folder, storePath, force } = copied();
      rmSync(storePath, { recursive: true });
      const { code, stderr } = await force();
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: `sluice: there is nothing of a node in controlPlane.storePath ${storePath}\n`,
      });
      expect(readdirSync(folder)).to.deep.equal(['sluice.yaml']);
    });

    it('is refused on a node that waits for its cluster', async () => {
      const { storePath, config, force } = copied();
      rmSync(storePath, { recursive: true });
      const child = spawnSluice(['--config', config]);
      await eventually(async () => expect((await stopped.api.get('/cluster')).status).to.equal(503));
      child.kill('SIGTERM');
      await once(child, 'close');
      const { code, stderr } = await force();
      expect(code, stderr).to.equal(1);
      expect(stderr).to.match(/nothing was ever agreed on in /);
      expect(readdirSync(storePath)).to.have.members(['raft', 'state']);
    });

    it('is refused where the state of the log is missing', async () => {
      const { storePath, force } = copied();
      rmSync(join(storePath, 'state'), { recursive: true });
      const { code, stderr } = await force();
      expect(code, stderr).to.equal(1);
      expect(stderr).to.match(/the state ends at entry 0, the log begins after \d+/);
      expect(readdirSync(storePath)).to.include('raft');
    });

    it('begins where a crash left a former state beside the one that counts', async () => {
      const store = copied();
      cpSync(join(store.storePath, 'state', generation), join(store.storePath, 'state', '1'), { recursive: true });
      const { code, stderr } = await store.force();
      expect(code, stderr).to.equal(0);
      expect(readdirSync(join(store.storePath, 'state'))).to.deep.equal(['1']);
      await expectBegun(store);
    });

    it('begins from a state whose log is gone, and says so', async () => {
      const store = copied();
      rmSync(join(store.storePath, 'raft'), { recursive: true });
      const { code, stdout, stderr } = await store.force();
      expect(code, stderr).to.equal(0);
      expect(stdout).to.match(/There was no log beside it, which may have held more/);
      await expectBegun(store);
    });

    it('is not started half-way, and is run again', async () => {
      const store = copied();
      const raft = join(store.storePath, 'raft');
      expect((await store.force()).code).to.equal(0);
      // As if it had been stopped before the log was put aside.
      const [aside = ''] = readdirSync(store.storePath).filter((name) => name.startsWith('raft.before-'));
      renameSync(join(store.storePath, aside), raft);
      renameSync(join(store.storePath, 'state', '1'), join(store.storePath, 'state', generation));
      const { code, stderr } = await runSluice(['--config', store.config]);
      expect(code, stderr).to.equal(1);
      expect(stderr).to.contain('sluice force-new-cluster was stopped before it was done; run it again');
      const again = await store.force();
      expect(again.code, again.stderr).to.equal(0);
      await expectBegun(store);
    });
  });
});
