// `npm run bench:start [-- --routes 10000 --rounds 5]`: `sluice --version`, and from the start of a process with so many
// active routes to the first request that it proxies, and to ready; time and CPU of the process. Targets (issue "Speed", 6):
// 60 ms and 1.5 s.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, setGlobalDispatcher } from 'undici';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { programOptions } from '../../scripts/node-options.mjs';
import { freePort } from '../support/free-port.ts';
import { NodeCluster } from '../support/node-cluster.ts';
import { cpuMsOf } from '../support/proc-figures.ts';
import { endAll } from '../support/sluice-process.ts';
import { startUpstream } from '../support/upstream.ts';
import { senderTo } from './api-sender.ts';

const { values } = optionsOf(import.meta.url, {
  options: { routes: { type: 'string', default: '10000' }, rounds: { type: 'string', default: '5' } },
});
const routes = Number(values.routes);
const rounds = Number(values.rounds);
const main = new URL('../../dist/src/main.js', import.meta.url).pathname;
setGlobalDispatcher(new Agent({ headersTimeout: 120_000, bodyTimeout: 120_000 }));

function row(what: string, samples: readonly number[]): void {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const [least = 0, most = 0] = [sorted[0], sorted.at(-1)];
  console.log(`${what.padEnd(44)} median ${middle.toFixed(0)} ms, ${least.toFixed(0)} to ${most.toFixed(0)}`);
}

/** Milliseconds of a whole process, and of its CPU. */
async function version(): Promise<readonly [ms: number, cpuMs: number]> {
  const startedAt = performance.now();
  // The shell tells what its children used.
  const child = spawn('/usr/bin/env', [
    'bash',
    '-c',
    `"$0" "$@" --version >/dev/null; times`,
    process.execPath,
    ...programOptions,
    main,
  ]);
  const texts: Buffer[] = [];
  child.stdout.on('data', (text: Buffer) => texts.push(text));
  await once(child, 'close');
  const ms = performance.now() - startedAt;
  const [, ofChildren = ''] = Buffer.concat(texts).toString().trim().split('\n');
  const seconds = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  return [ms, seconds.reduce((sum, each) => sum + each, 0) * 1000];
}

const versions: (readonly [number, number])[] = [];
for (let at = 0; at < rounds + 1; at++) versions.push(await version());
row(
  'sluice --version',
  versions.slice(1).map(([ms]) => ms),
);
row(
  'sluice --version, CPU',
  versions.slice(1).map(([, cpu]) => cpu),
);

const upstream = await startUpstream('backend');
const port = await freePort();
const cluster = await NodeCluster.start({ nodeIds: ['a'] });
const [node] = cluster.nodes;
if (node === undefined) throw new Error('no node');

const send = senderTo(node.url);

const route = (at: number) => ({
  id: `route-${at}`,
  name: `route-${at}`,
  match: { pathPrefix: `/shop/${at}`, hostnames: [`host-${at % 50}.example`] },
  forward: { destinations: [{ destinationId: 'backend' }] },
});

/** Resolves when the last route is proxied. */
async function served(): Promise<void> {
  const last = routes - 1;
  const headers = { host: `host-${last % 50}.example` };
  for (;;) {
    const status = await request(`http://${node?.proxyAddress}:${port}/shop/${last}`, { headers }).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      () => 0,
    );
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

await send('/destinations', { id: 'backend', name: 'backend', host: '127.0.0.1', port: upstream.port });
await send('/listeners', { name: 'web', port });
const operations = Array.from({ length: routes }, (_, at) => ({ op: 'upsert', kind: 'routes', body: route(at) }));
await send('/batch', { operations });
await send(`/snapshots/${String((await send('/snapshots', { name: 's' })).id)}/activate`);
await served();
const first: number[] = [];
const ready: number[] = [];
const cpu: number[] = [];
for (let round = 0; round < rounds; round++) {
  await node.stop();
  const startedAt = performance.now();
  const starting = node.start();
  await served();
  first.push(performance.now() - startedAt);
  await starting;
  ready.push(performance.now() - startedAt);
  const pid = node.process?.child.pid;
  cpu.push(pid === undefined ? 0 : cpuMsOf(pid));
}
row(`start with ${routes} routes → first request proxied`, first);
row(`start with ${routes} routes → ready`, ready);
row(`start with ${routes} routes, CPU until both`, cpu);
await node.stop();
await upstream.close();
endAll();
