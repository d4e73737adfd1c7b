// `npm run bench:writes [-- --seconds 2 --rounds 3 --clients 1,64 --through leader|follower --warm 30000 --profile DIR]`: what one write
// of 512 bytes costs on three real nodes, in time and in CPU of every thread of the leader, of a follower and of the
// clients. CPU is read from /proc, so it holds on a machine that does other things, too. With `--profile` each thread of
// each node leaves a CPU profile in that directory. Before anything is measured the code has to be compiled: tens of thousands of
// writes, for V8 takes its time with functions that run once a batch.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { optionsOf } from '../../raft/testing/commands/options.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { endAll } from '../support/sluice-process.ts';
import { KeepAliveClient, requestBytes } from './keep-alive-client.ts';
import { report } from './raft/report.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '1,64' },
    through: { type: 'string', default: 'leader' },
    warm: { type: 'string', default: '30000' },
    profile: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const clientCounts = values.clients.split(',').map(Number);
/** Tick of /proc: a hundredth of a second on every Linux that Node runs on. */
const tickMs = 10;

const route = (client: number, body: string) =>
  JSON.stringify({
    id: `c${client}`,
    name: `c${client}`,
    match: { pathPrefix: '/c' },
    directResponse: { status: 200, body },
  });

async function send(client: KeepAliveClient, request: Uint8Array): Promise<void> {
  const status = await client.send(request);
  if (status >= 300) throw new Error(`a write was answered by ${status}`);
}

/** CPU milliseconds so far, by name of the thread; threads of one name together. */
function cpuOf(pid: number): Map<string, number> {
  const used = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    used.set(name, (used.get(name) ?? 0) + ((user ?? 0) + (system ?? 0)) * tickMs);
  }
  return used;
}

function cpuReport(who: string, before: Map<string, number>, after: Map<string, number>, writes: number): void {
  const perWrite = [...after]
    .map(([name, ms]) => [name, ((ms - (before.get(name) ?? 0)) * 1000) / writes] as const)
    .filter(([, us]) => us >= 0.5)
    .sort(([, a], [, b]) => b - a);
  const sum = perWrite.reduce((total, [, us]) => total + us, 0);
  const threads = perWrite.map(([name, us]) => `${name} ${us.toFixed(0)}`).join(', ');
  console.log(`  CPU per write, µs: ${who} ${sum.toFixed(0)} (${threads})`);
}

async function measure(clients: number, watched: readonly (readonly [string, number])[]) {
  const connections = await connect(clients);
  const latenciesMs: number[] = [];
  const before = watched.map(([, pid]) => cpuOf(pid));
  const startedAt = performance.now();
  const loop = async (connection: KeepAliveClient, client: number) => {
    const request = replacing(client, 'y'.repeat(512));
    while (performance.now() - startedAt < seconds * 1000) {
      const askedAt = performance.now();
      await send(connection, request);
      latenciesMs.push(performance.now() - askedAt);
    }
  };
  await Promise.all(connections.map(loop));
  const took = (performance.now() - startedAt) / 1000;
  report(`writes through the ${values.through}, ${clients} clients`, { latenciesMs, seconds: took, lost: 0 });
  for (const [at, [who, pid]] of watched.entries()) {
    cpuReport(who, before[at] ?? new Map(), cpuOf(pid), latenciesMs.length);
  }
  for (const connection of connections) connection.close();
}

process.once('exit', endAll);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const profiling =
  values.profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${resolve(values.profile)}` };
const cluster = await NodeCluster.start({ env: () => profiling });
const leader = await cluster.leader();
const [follower] = await cluster.followers();
if (follower === undefined) throw new Error('no follower');
const to = values.through === 'follower' ? follower : leader;
const pidOf = (node: ClusterNode): number => node.process?.child.pid ?? 0;
const watched = [
  ['leader', pidOf(leader)],
  ['follower', pidOf(follower)],
  ['clients', process.pid],
] as const;
const creating = (client: number): Buffer =>
  requestBytes('POST', `${leader.url}/api/v1/routes`, route(client, 'at first'));
const replacing = (client: number, body: string): Buffer =>
  requestBytes('PUT', `${to.url}/api/v1/routes/c${client}`, route(client, body));
const creator = await KeepAliveClient.open(leader.url);
for (let client = 0; client < 64; client++) await send(creator, creating(client));
creator.close();
const connect = (clients: number): Promise<KeepAliveClient[]> =>
  Promise.all(Array.from({ length: clients }, () => KeepAliveClient.open(to.url)));
const warm = Number(values.warm);
let warmed = 0;
const warmUp = async (connection: KeepAliveClient, client: number) => {
  const request = replacing(client, 'to compile the code');
  while (warmed++ < warm) await send(connection, request);
  connection.close();
};
await Promise.all((await connect(64)).map(warmUp));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const clients of clientCounts) await measure(clients, watched);
}
// A profile is written by those alone that end by themselves.
await Promise.all(cluster.nodes.map((node) => node.stop('SIGTERM')));
process.exit();
