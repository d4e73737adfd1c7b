// `npm run bench:tables [-- --routes 100000 --nodes 3 --workers 2 --profile DIR]`: a large table from the API to serving:
// import by batches, capture, activation until a request meets the last route, one route changed and served, memory of the
// process, CPU of the leader in each step, the CPU time that any event loop was held at most in it, and a start with what is
// there. Targets (issue "Speed", 5 and 6): import 20 s on three nodes, snapshot 3 s, activation 1.5 s, no loop held over
// 20 ms, 900 MiB with two workers, one route changed 150 ms; a start with 10,000 routes 1.5 s.
import { Agent, request, setGlobalDispatcher } from 'undici';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { freePort } from '../support/free-port.ts';
import { askHeld, heldLoopsEnv } from '../support/held-loops.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { cpuMsOf, memoryKbOf } from '../support/proc-figures.ts';
import { endAll } from '../support/sluice-process.ts';
import { startUpstream } from '../support/upstream.ts';
import { senderTo } from './api-sender.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    routes: { type: 'string', default: '100000' },
    nodes: { type: 'string', default: '3' },
    workers: { type: 'string', default: '1' },
    profile: { type: 'string' },
  },
});
const routes = Number(values.routes);
const nodeIds = ['a', 'b', 'c'].slice(0, Number(values.nodes));
const perBatch = 20_000;
const profiling = values.profile === undefined ? '' : `--cpu-prof --cpu-prof-dir=${values.profile}`;
setGlobalDispatcher(new Agent({ connections: 16, headersTimeout: 120_000, bodyTimeout: 120_000 }));

const upstream = await startUpstream('backend');
const port = await freePort();
const cluster = await NodeCluster.prepare({
  nodeIds,
  workers: Number(values.workers),
  env: () => ({ NODE_OPTIONS: `${heldLoopsEnv.NODE_OPTIONS} ${profiling}` }),
});
const startedAt = performance.now();
await Promise.all(cluster.nodes.map((node) => node.start()));
console.log(`${nodeIds.length} nodes ready after ${(performance.now() - startedAt).toFixed(0)} ms`);
const leader = nodeIds.length === 1 ? (cluster.nodes[0] as ClusterNode) : await cluster.leader();

const send = senderTo(leader.url);

const route = (at: number, path = `/shop/${at % 100}/${at}`) => ({
  id: `route-${at}`,
  name: `route-${at}`,
  match: { pathPrefix: path, hostnames: [`host-${at % 50}.example`], methods: ['GET', 'POST'] },
  forward: { destinations: [{ destinationId: 'backend' }], timeouts: { request: '5s' } },
});

async function timed<T>(name: string, run: () => Promise<T>): Promise<T> {
  const cpuBefore = cpuMs();
  const begun = performance.now();
  const result = await run();
  const ms = performance.now() - begun;
  const cpu = cpuMs() - cpuBefore;
  const times = `${ms.toFixed(0).padStart(7)} ms, CPU ${cpu.toFixed(0).padStart(6)} ms`;
  console.log(`${name.padEnd(38)} ${times}   held, CPU ms: ${await held()}; rss ${rss()} MiB`);
  return result;
}

/** CPU time that each event loop of each node was held at most since the last call. */
async function held(): Promise<string> {
  const texts = [];
  for (const { process, output } of cluster.nodes) {
    if (process === undefined) continue;
    const loops = await askHeld({ child: process.child, output });
    texts.push(
      Object.entries(loops)
        .map(([name, ms]) => `${name}=${ms}`)
        .join(' '),
    );
  }
  return texts.join(' | ');
}

const rss = (): string => cluster.nodes.map((node) => Math.round(memoryKbOf(node.process?.child.pid) / 1024)).join(' ');

/** CPU time of the leader, all threads, in steps of 10 ms; 0 while it does not run. */
function cpuMs(): number {
  const pid = leader.process?.child.pid;
  return pid === undefined ? 0 : cpuMsOf(pid);
}

/** Resolves when the route answers on every node. */
async function served(path: string, host: string): Promise<void> {
  for (const node of cluster.nodes) {
    for (;;) {
      const status = await request(`http://${node.proxyAddress}:${port}${path}`, { headers: { host } })
        .then(async ({ statusCode, body }) => {
          await body.dump();
          return statusCode;
        })
        .catch(() => 0);
      if (status === 200) break;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

await send('/destinations', { id: 'backend', name: 'backend', host: '127.0.0.1', port: upstream.port });
await send('/listeners', { name: 'web', port });
await held();
await timed(`import of ${routes} routes`, async () => {
  for (let from = 0; from < routes; from += perBatch) {
    const operations = Array.from({ length: Math.min(perBatch, routes - from) }, (_, at) => ({
      op: 'upsert',
      kind: 'routes',
      body: route(from + at),
    }));
    await send('/batch', { operations });
  }
});
const last = routes - 1;
let snapshot = await timed('snapshot', async () => String((await send('/snapshots', { name: 's0' })).id));
await timed('activation, served by all', async () => {
  await send(`/snapshots/${snapshot}/activate`);
  await served(`/shop/${last % 100}/${last}`, `host-${last % 50}.example`);
});
for (let round = 1; round <= 3; round++) {
  await send(`/routes/route-${round}`, route(round, `/changed-${round}`), 'PUT');
  await held();
  snapshot = await timed(`one route changed: snapshot ${round}`, async () =>
    String((await send('/snapshots', { name: `s${round}` })).id),
  );
  await timed(`one route changed: activation ${round}`, async () => {
    await send(`/snapshots/${snapshot}/activate`);
    await served(`/changed-${round}`, `host-${round % 50}.example`);
  });
}
await Promise.all(cluster.nodes.map((node) => node.stop()));
await timed('start, until all serve', async () => {
  await Promise.all(cluster.nodes.map((node) => node.start()));
  await served('/changed-3', 'host-3.example');
});
await Promise.all(cluster.nodes.map((node) => node.stop()));
await upstream.close();
endAll();
