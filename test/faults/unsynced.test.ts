// Nodes whose power fails under load (raft.md C6, row 5): writes that were not synced are gone when they start again.
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';
import { eventually } from '../support/eventually.ts';
import { drawnRandom, pause, repeatFor, say, secondsOf } from '../support/long-run.ts';
import { type Loss, LossyDisk } from '../support/lossy-disk.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { RegisterClients } from '../support/register-clients.ts';
import { newFolder, spawnNode } from '../support/sluice-process.ts';
import { expectLinearizable, expectSameState } from '../support/verdict.ts';

const losses: readonly Loss[] = ['batches', 'bytes'];
const seconds = secondsOf('UNSYNCED', 30) / losses.length;

for (const loses of losses) {
  describe(`disks that lose unsynced ${loses}`, function () {
    this.timeout(900_000);
    const random = drawnRandom();
    let cluster: NodeCluster;
    let disks: ReadonlyMap<string, LossyDisk>;
    let lies: string;
    let clients: RegisterClients;

    const diskOf = ({ nodeId }: ClusterNode): LossyDisk => {
      const disk = disks.get(nodeId);
      if (disk === undefined) throw new Error(`no disk of ${nodeId}`);
      return disk;
    };

    const startUnderLoad = async (): Promise<void> => {
      // All begin to lie at one instant, so that no node applies what the others lose.
      lies = join(newFolder(), 'lies');
      disks = new Map(['a', 'b', 'c'].map((nodeId) => [nodeId, new LossyDisk(loses, lies)]));
      cluster = await NodeCluster.start({ env: (nodeId) => disks.get(nodeId)?.env ?? {} });
      await cluster.leader();
      clients = RegisterClients.start({ nodes: cluster.nodes.map(({ url }) => url), random });
      await expectWrites();
    };

    const expectWrites = async (): Promise<void> => {
      const before = clients.acknowledgedAt.length;
      await eventually(() => expect(clients.acknowledgedAt.length).to.be.greaterThan(before + 100));
    };

    afterEach(async () => {
      await clients?.stop().catch(() => undefined);
      await cluster?.stop();
    });

    it('keep what was synced, and nothing else', async () => {
      const disk = new LossyDisk(loses);
      const storePath = newFolder();
      const child = spawnNode(['--input-type=module', '--eval', writesAndDies], { ...disk.env, STORE: storePath });
      await once(child, 'close');
      const { operations, files } = disk.losePower(storePath, () => 0);
      // The files are the log of the database, what LevelDB says of itself, and the one that was not synced again.
      expect([operations, files]).to.deep.equal(loses === 'batches' ? [1, 0] : [0, 3]);
      const database = new ClassicLevel(join(storePath, 'level'));
      expect(await database.keys().all()).to.deep.equal(['first', 'second', 'third']);
      await database.close();
      // A batch in memory takes nothing else with it.
      expect(readFileSync(join(storePath, 'file'), 'utf8')).to.equal(
        loses === 'bytes' ? 'synced' : 'synced, not synced',
      );
      expect(readFileSync(join(storePath, 'WITNESS'), 'utf8')).to.equal('1');
    });

    it('cost no acknowledged write when the power of one, two or all nodes fails', async () => {
      await startUnderLoad();
      const lost = { operations: 0, files: 0, bytes: 0 };
      const rounds = await repeatFor(seconds, async (round) => {
        await pause(500 + random() * 1_500);
        const victims = await drawnVictims(cluster, round, random);
        await Promise.all(victims.map((node) => node.stop('SIGKILL')));
        // Noise may make a node suspect: it waits for a leader that the others elect. Two would wait for an operator.
        const rest = victims.length === 1 && cluster.nodes.every(isTrusted) ? 'noise' : 'cut';
        for (const node of victims) {
          const { operations, files, bytes } = diskOf(node).losePower(node.storePath, random, rest);
          lost.operations += operations;
          lost.files += files;
          lost.bytes += bytes;
        }
        await pause(random() * 400);
        await Promise.all(victims.map((node) => node.start()));
        await expectWrites();
      });
      const suspects = cluster.nodes.flatMap(({ output }) => output).filter((line) => line.includes('log is suspect'));
      say(`${rounds} rounds, ${suspects.length} nodes suspect, lost: ${JSON.stringify(lost)}`);
      say(JSON.stringify(await expectLinearizable(clients)));
      await expectSameState(cluster);
    });

    it('are found out when they lie about what they synced', async () => {
      await startUnderLoad();
      writeFileSync(lies, '');
      await expectWrites();
      await Promise.all(cluster.nodes.map((node) => node.stop('SIGKILL')));
      // To the byte: a state that kept more than its log would be refused, as it should be.
      for (const node of cluster.nodes) diskOf(node).losePower(node.storePath, () => 0);
      rmSync(lies);
      await Promise.all(cluster.nodes.map((node) => node.start()));
      const verdict = await expectLinearizable(clients).catch((error: Error) => error);
      expect(verdict).to.be.instanceOf(Error);
      say(String(verdict).slice(0, 200));
    });
  });
}

/** Two unsynced batches before a synced one and one behind it; a file and a witness that are written on after a sync. */
const writesAndDies = `
import { open } from 'node:fs/promises';
import { ClassicLevel } from 'classic-level';
const database = new ClassicLevel(process.env.STORE + '/level');
const batch = (key, sync) => database.batch([{ type: 'put', key, value: key }], { sync });
await batch('first', false);
await batch('second', false);
await batch('third', true);
await batch('fourth', false);
const file = await open(process.env.STORE + '/file', 'w');
await file.writeFile('synced');
await file.sync();
await file.writeFile(', not synced');
const witness = await open(process.env.STORE + '/WITNESS', 'w');
await witness.write(Buffer.from('1'), 0, 1, 0);
await witness.datasync();
await witness.write(Buffer.from('2'), 0, 1, 0);
process.kill(process.pid, 'SIGKILL');
`;

const isTrusted = ({ storePath }: ClusterNode): boolean => !existsSync(join(storePath, 'raft/SUSPECT'));

/** In turn the leader, one or two that are drawn, and all. */
async function drawnVictims(
  cluster: NodeCluster,
  round: number,
  random: () => number,
): Promise<readonly ClusterNode[]> {
  if (round % 3 === 0) return [await cluster.leader()];
  if (round % 3 === 2) return cluster.nodes;
  const drawn = Math.floor(random() * 3);
  const isOne = random() < 0.5;
  return cluster.nodes.filter((_, at) => (at === drawn) === isOne);
}
