// `npm run bench:cluster [-- --seconds 5]`: three real nodes on one machine, fsync on, asked over the REST API as clients
// do: writes and linearizable reads through the leader and through a follower, how soon every proxy serves what was
// activated, and how soon a node is back with 10,000 resources. Where etcd is installed, it takes writes of the same size
// afterwards. Targets (issue "The cluster", check 7): 300 writes/s at 32 clients through any node, p50 of one client through
// a follower 10 ms, 2,000 linearizable GET/s, ready in 3 s, back by a checkpoint of 20 MB in 10 s, activation 100 ms.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { Agent, request, setGlobalDispatcher } from 'undici';

import { optionsOf } from '../../raft/testing/commands/options.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { endAll } from '../support/sluice-process.ts';
import { gapReport, report } from './raft/report.ts';

const { values } = optionsOf(import.meta.url, { options: { seconds: { type: 'string', default: '5' } } });
const seconds = Number(values.seconds);
const clientCounts = [1, 16, 32, 64];
const resources = 10_000;
/** 10,000 of these make a checkpoint of a little more than 20 MB. */
const filling = 'x'.repeat(2_000);

setGlobalDispatcher(new Agent({ connections: 64 }));

async function send(node: ClusterNode, method: 'GET' | 'PUT' | 'POST', path: string, body?: unknown): Promise<string> {
  const answer = await request(`${node.url}/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300)
    throw new Error(`${method} ${path} through ${node.nodeId}: ${answer.statusCode} ${text}`);
  return text;
}

const direct = (name: string, pathPrefix: string, body: string) => ({
  id: name,
  name,
  match: { pathPrefix },
  directResponse: { status: 200, body },
});

/** Runs clients, each with one request under way all the time. */
async function load(what: string, clients: number, ask: (client: number) => Promise<unknown>): Promise<void> {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const loop = async (_: unknown, client: number) => {
    while (performance.now() - startedAt < seconds * 1000) {
      const askedAt = performance.now();
      await ask(client);
      latenciesMs.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: clients }, loop));
  report(`${what}, ${clients} clients`, { latenciesMs, seconds: (performance.now() - startedAt) / 1000, lost: 0 });
}

async function writesAndReads(leader: ClusterNode, follower: ClusterNode): Promise<void> {
  for (let client = 0; client < 64; client++)
    await send(leader, 'POST', '/routes', direct(`c${client}`, '/c', 'at first'));
  const ways = [
    ['the leader', leader],
    ['a follower', follower],
  ] as const;
  for (const [name, node] of ways) {
    for (const clients of clientCounts) {
      const write = (client: number) =>
        send(node, 'PUT', `/routes/c${client}`, direct(`c${client}`, '/c', 'y'.repeat(512)));
      await load(`writes through ${name}`, clients, write);
    }
    for (const clients of [1, 16, 64]) {
      await load(`linearizable GET through ${name}`, clients, (client) => send(node, 'GET', `/routes/c${client}`));
    }
  }
}

/** Measures from the answer to the activation until the last proxy has served it. */
async function activations(nodes: readonly ClusterNode[], leader: ClusterNode): Promise<void> {
  const port = await freePort();
  await send(leader, 'POST', '/listeners', { name: 'web', address: '127.0.0.1', port });
  for (let at = 0; at < 999; at++) await send(leader, 'POST', '/routes', direct(`r${at}`, `/r/${at}`, 'unchanged'));
  await send(leader, 'POST', '/routes', direct('version', '/version', '0'));
  const gaps: number[] = [];
  for (let round = 1; round <= 50; round++) {
    const through = nodes[round % nodes.length] ?? leader;
    await send(through, 'PUT', '/routes/version', direct('version', '/version', String(round)));
    await send(through, 'POST', `/snapshots/${await through.api.create('snapshots', { name: `s${round}` })}/activate`);
    const answeredAt = performance.now();
    await Promise.all(nodes.map((node) => serves(`http://${node.proxyAddress}:${port}/version`, String(round))));
    gaps.push(performance.now() - answeredAt);
  }
  gapReport('one of 1,000 routes changed, answer to the activation → served by every proxy', gaps.slice(1));
}

async function serves(url: string, version: string): Promise<void> {
  await eventually(async () => {
    const answer = await request(url);
    const text = await answer.body.text();
    if (text !== version) throw new Error(`${url} serves ${text}, not ${version}`);
  });
}

async function fill(leader: ClusterNode): Promise<void> {
  let next = 0;
  const create = async () => {
    while (next < resources) {
      const at = next++;
      await send(leader, 'POST', '/routes', direct(`filling-${at}`, `/filling/${at}`, filling));
    }
  };
  await Promise.all(Array.from({ length: 32 }, create));
}

async function startsAgain(node: ClusterNode): Promise<void> {
  const gaps: number[] = [];
  for (let round = 0; round < 5; round++) {
    await node.stop();
    const startedAt = performance.now();
    await node.start();
    gaps.push(performance.now() - startedAt);
  }
  gapReport(`start of a node with ${resources} resources, process start → ready`, gaps);
}

async function comesBackWiped(node: ClusterNode): Promise<void> {
  await node.stop('SIGKILL');
  rmSync(node.storePath, { recursive: true });
  const startedAt = performance.now();
  await node.start();
  gapReport(`wiped node with ${resources} resources of 2 KB, process start → caught up and ready`, [
    performance.now() - startedAt,
  ]);
  const byCheckpoint = node.output.some((line) => line.includes('by a checkpoint'));
  console.log(`  ${byCheckpoint ? 'caught up by a checkpoint' : 'caught up by entries of the log alone'}`);
}

process.once('exit', endAll);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const cluster = await NodeCluster.start();
const leader = await cluster.leader();
const [follower] = await cluster.followers();
if (follower === undefined) throw new Error('no follower');
await writesAndReads(leader, follower);
await activations(cluster.nodes, leader);
await fill(leader);
await startsAgain(follower);
await comesBackWiped(follower);
await cluster.stop();
spawnSync(process.execPath, [new URL('./raft/etcd.ts', import.meta.url).pathname, '--nodes', '3'], {
  stdio: 'inherit',
});
process.exit();
