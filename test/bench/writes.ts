// `npm run bench:writes [-- --seconds 2 --rounds 3 --clients 1,64 --through leader|follower --warm 5000 --profile DIR]`: what one write
// of 512 bytes costs on three real nodes, in time and in CPU of every thread of the leader, of a follower and of the
// clients. CPU is read from /proc, so it holds on a machine that does other things, too. With `--profile` each thread of
// each node leaves a CPU profile in that directory.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Agent, request, setGlobalDispatcher } from 'undici';

import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { endAll } from '../support/sluice-process.ts';
import { report } from './raft/report.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '1,64' },
    through: { type: 'string', default: 'leader' },
    warm: { type: 'string', default: '5000' },
    profile: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const clientCounts = values.clients.split(',').map(Number);
/** Of /proc: a hundredth of a second on every Linux that Node runs on. */
const tickMs = 10;

setGlobalDispatcher(new Agent({ connections: 64 }));

const route = (client: number, body: string) =>
  JSON.stringify({
    id: `c${client}`,
    name: `c${client}`,
    match: { pathPrefix: '/c' },
    directResponse: { status: 200, body },
  });

async function send(node: ClusterNode, method: 'POST' | 'PUT', path: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await request(`${node.url}/api/v1${path}`, { method, headers, body });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
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

async function measure(clients: number, to: ClusterNode, watched: readonly (readonly [string, number])[]) {
  const latenciesMs: number[] = [];
  const before = watched.map(([, pid]) => cpuOf(pid));
  const startedAt = performance.now();
  const body = 'y'.repeat(512);
  const loop = async (_: unknown, client: number) => {
    while (performance.now() - startedAt < seconds * 1000) {
      const askedAt = performance.now();
      await send(to, 'PUT', `/routes/c${client}`, route(client, body));
      latenciesMs.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: clients }, loop));
  const took = (performance.now() - startedAt) / 1000;
  report(`writes through the ${values.through}, ${clients} clients`, { latenciesMs, seconds: took, lost: 0 });
  for (const [at, [who, pid]] of watched.entries()) {
    cpuReport(who, before[at] ?? new Map(), cpuOf(pid), latenciesMs.length);
  }
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
for (let client = 0; client < 64; client++) await send(leader, 'POST', '/routes', route(client, 'at first'));
const warm = Number(values.warm);
let warmed = 0;
const warmUp = async (_: unknown, client: number) => {
  while (warmed++ < warm) await send(to, 'PUT', `/routes/c${client}`, route(client, 'to compile the code'));
};
await Promise.all(Array.from({ length: 64 }, warmUp));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const clients of clientCounts) await measure(clients, to, watched);
}
// A profile is written by those alone that end by themselves.
await Promise.all(cluster.nodes.map((node) => node.stop('SIGTERM')));
process.exit();
