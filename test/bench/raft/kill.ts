// Kills and stops real processes while they commit, and looks for what was lost (raft.md C6.1–3):
//   node test/bench/raft/kill.ts [--rounds 20] [--seed 1]
// Each round SIGKILLs the leader, another node or all of them, or stops the leader for a while. At the end every node
// must hold the same words in the same order, each once, and all that were ever acknowledged.
import { seededRng } from '../../../raft/core/rng.ts';
import { optionsOf } from '../../../raft/testing/commands/options.ts';
import { BenchCluster, type BenchNode } from './cluster.ts';

const { values } = optionsOf(import.meta.url, {
  options: { rounds: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } },
});
const rng = seededRng(Number(values.seed));
const pause = (forMs: number) => new Promise((resolve) => setTimeout(resolve, forMs));

const cluster = await BenchCluster.start(3);
try {
  const done: Record<string, number> = {};
  for (let round = 0; round < Number(values.rounds); round++) {
    const leader = await cluster.working();
    leader.process.send({ type: 'stream', clients: 8, prefix: `${round}` });
    await pause(200 + rng.below(800));
    const what = await disturb(leader);
    done[what] = (done[what] ?? 0) + 1;
    await pause(rng.below(500));
  }
  console.log(JSON.stringify({ done, ...(await verdict()) }));
} finally {
  await cluster.close();
}

async function disturb(leader: BenchNode): Promise<string> {
  const kinds = ['leader killed', 'follower killed', 'all killed', 'leader stopped'] as const;
  const kind = kinds[rng.below(kinds.length)] ?? 'leader killed';
  if (kind === 'leader stopped') {
    leader.process.kill('SIGSTOP');
    await pause(500 + rng.below(2_500));
    leader.process.kill('SIGCONT');
    return kind;
  }
  const others = cluster.nodes.filter((node) => node !== leader);
  const victims = { 'leader killed': [leader], 'follower killed': others.slice(0, 1), 'all killed': cluster.nodes };
  await Promise.all(victims[kind].map((node) => cluster.kill(node)));
  await pause(rng.below(400));
  for (const node of victims[kind]) cluster.restart(node);
  return kind;
}

/** Restarted nodes apply from the beginning; a last kill of everyone makes all of them do so from their disks. */
async function verdict() {
  await Promise.all(cluster.nodes.map((node) => cluster.kill(node)));
  const restartedAt = Date.now();
  for (const node of cluster.nodes) cluster.restart(node);
  await cluster.working(restartedAt);
  await pause(2_000);
  const words = await Promise.all(cluster.nodes.map((node) => cluster.words(node)));
  const [first = []] = words;
  const held = new Set(first);
  const acked = cluster.nodes.flatMap((node) => node.acked);
  const lost = acked.filter((word) => !held.has(word));
  const proposals = first.filter((word) => word !== 'probe');
  const same = words.every((each) => each.join() === first.join());
  const twice = proposals.length - new Set(proposals).size;
  if (lost.length > 0 || !same || twice > 0) process.exitCode = 1;
  return { acknowledged: acked.length, held: proposals.length, lost: lost.slice(0, 5), same, twice };
}
