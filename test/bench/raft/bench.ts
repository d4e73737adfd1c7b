// Commits per second and latency of one and three real processes on loopback, with fsync, and how long a cluster is
// without a leader:   node test/bench/raft/bench.ts [--seconds 5] [--rounds 10] [--nodes 1,3]
// Targets: 2,000 commits/s at 64 clients, median fail-over below 2 s, planned hand-over below 300 ms.
import { optionsOf } from '../../../raft/testing/commands/options.ts';
import { BenchCluster } from './cluster.ts';
import { gapReport, report } from './report.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '10' },
    nodes: { type: 'string', default: '1,3' },
  },
});

for (const size of values.nodes.split(',').map(Number)) {
  await withCluster(size, (cluster) => throughput(cluster, Number(values.seconds)));
  if (size > 1) await withCluster(size, (cluster) => handOver(cluster, Number(values.rounds)));
  if (size > 1) await withCluster(size, (cluster) => failOver(cluster, Number(values.rounds)));
}

async function withCluster(size: number, use: (cluster: BenchCluster) => Promise<void>): Promise<void> {
  const cluster = await BenchCluster.start(size);
  try {
    await use(cluster);
  } finally {
    await cluster.close();
  }
}

async function throughput(cluster: BenchCluster, seconds: number): Promise<void> {
  for (const clients of [1, 16, 64, 256]) {
    const leader = await cluster.working();
    const writes = await cluster.ask(leader, { type: 'load', clients, seconds, bytes: 512 });
    report(`${cluster.nodes.length} node(s), ${clients} clients, writes of 512 bytes`, writes);
  }
  const leader = await cluster.working();
  const reads = await cluster.ask(leader, { type: 'reads', clients: 64, seconds });
  report(`${cluster.nodes.length} node(s), 64 clients, read barriers`, reads);
}

async function handOver(cluster: BenchCluster, rounds: number): Promise<void> {
  const gaps: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const leader = await cluster.working();
    const askedAt = Date.now();
    leader.process.send({ type: 'transfer' });
    gaps.push((await cluster.working(askedAt)).workingAt - askedAt);
    await pause(300);
  }
  gapReport(`${cluster.nodes.length} nodes, planned hand-over, request to first commit`, gaps);
}

async function failOver(cluster: BenchCluster, rounds: number): Promise<void> {
  const gaps: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const leader = await cluster.working();
    const killedAt = Date.now();
    await cluster.kill(leader);
    gaps.push((await cluster.working(killedAt)).workingAt - killedAt);
    cluster.restart(leader);
    await pause(2_000);
  }
  gapReport(`${cluster.nodes.length} nodes, fail-over, SIGKILL to first commit`, gaps);
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs));
}
