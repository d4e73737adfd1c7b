// `npm run bench:tables [-- --routes 100000 --nodes 3]`: a large table from the API to serving: import by batches, capture,
// activation until a request meets the last route, one route changed and served, memory of the process, the longest time
// that any event loop was held in each step, and a start with what is there. Targets (issue "Speed", 5 and 6): import 20 s
// on three nodes, snapshot 3 s, activation 1.5 s, no loop held over 20 ms, 900 MiB with two workers, one route changed
// 150 ms; a start with 10,000 routes 1.5 s.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Agent, request, setGlobalDispatcher } from 'undici';
import { freePort } from '../support/free-port.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { endAll } from '../support/sluice-process.ts';
import { startUpstream } from '../support/upstream.ts';

const { values } = parseArgs({
  options: { routes: { type: 'string', default: '100000' }, nodes: { type: 'string', default: '3' } },
});
const routes = Number(values.routes);
const nodeIds = ['a', 'b', 'c'].slice(0, Number(values.nodes));
const perBatch = 20_000;
setGlobalDispatcher(new Agent({ connections: 16, headersTimeout: 120_000, bodyTimeout: 120_000 }));

/** In every thread: tells on SIGUSR2 how long its loop was held since the last time, whatever thread it is. */
const monitor = `data:text/javascript,${encodeURIComponent(`
  import { monitorEventLoopDelay } from 'node:perf_hooks';
  import { isMainThread, threadId, threadName } from 'node:worker_threads';
  import { writeSync } from 'node:fs';
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const channel = new BroadcastChannel('held');
  channel.unref();
  const tell = () => {
    writeSync(2, 'held ' + (isMainThread ? 'main' : threadName || threadId) + '=' + Math.round(delay.max / 1e6) + '\\n');
    delay.reset();
  };
  channel.onmessage = tell;
  if (isMainThread) process.on('SIGUSR2', () => { channel.postMessage(0); tell(); });
`)}`;

const upstream = await startUpstream('backend');
const port = await freePort();
const cluster = await NodeCluster.prepare({
  nodeIds,
  env: () => ({ NODE_OPTIONS: `--import=${monitor}` }),
});
const startedAt = performance.now();
await Promise.all(cluster.nodes.map((node) => node.start()));
console.log(`${nodeIds.length} nodes ready after ${(performance.now() - startedAt).toFixed(0)} ms`);
const leader = nodeIds.length === 1 ? (cluster.nodes[0] as ClusterNode) : await cluster.leader();

async function send(path: string, body?: unknown, method: 'POST' | 'PUT' = 'POST'): Promise<Record<string, unknown>> {
  const response = await request(`${leader.url}/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${await response.body.text()}`);
  return (await response.body.json()) as Record<string, unknown>;
}

const route = (at: number, path = `/shop/${at % 100}/${at}`) => ({
  id: `route-${at}`,
  name: `route-${at}`,
  match: { pathPrefix: path, hostnames: [`host-${at % 50}.example`], methods: ['GET', 'POST'] },
  forward: { destinations: [{ destinationId: 'backend' }], timeouts: { request: '5s' } },
});

async function timed<T>(name: string, run: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await run();
  const ms = performance.now() - begun;
  console.log(`${name.padEnd(40)} ${ms.toFixed(0).padStart(7)} ms   held, ms: ${await held()}; rss ${rss()} MiB`);
  return result;
}

/** Longest time that each event loop of each node was held since the last call. */
async function held(): Promise<string> {
  const texts = [];
  for (const node of cluster.nodes) {
    const before = node.output.length;
    node.process?.child.kill('SIGUSR2');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const lines = node.output.slice(before).filter((line) => line.startsWith('held '));
    texts.push(lines.map((line) => line.slice(5)).join(' '));
  }
  return texts.join(' | ');
}

const rss = (): string =>
  cluster.nodes
    .map((node) => /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${node.process?.child.pid}/status`, 'utf8'))?.[1] ?? '0')
    .map((kib) => Math.round(Number(kib) / 1024))
    .join(' ');

/** Until the route answers on every node. */
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
