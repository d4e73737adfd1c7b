// `npm run bench:fleet [-- --proxies 1000 --routes 10000 --rounds 2]`: a thousand proxies that follow one node (fleet.md §3).
// They connect at once, an activation of 2 MB goes to all of them, and they come back at once with what they have. Told are
// the time until the last one has it, the CPU of node and proxies, how long the loop of the node was held, how long
// `GET /healthz` takes meanwhile, and the memory of the node.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { apiClient } from '../support/api-client.ts';
import { askHeld, heldLoopsEnv } from '../support/held-loops.ts';
import { call } from '../support/http-call.ts';
import { cpuMsOf, memoryKbOf } from '../support/proc-figures.ts';
import { endAll, startSluice } from '../support/sluice-process.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    proxies: { type: 'string', default: '1000' },
    routes: { type: 'string', default: '9000' },
    rounds: { type: 'string', default: '2' },
  },
});
const count = Number(values.proxies);

interface Seen {
  /** Number of events that every proxy has. */
  readonly least: number;
  readonly lastMs: number;
  readonly bytes: number;
  readonly cpuMs: number;
}

process.once('exit', endAll);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const node = await startSluice({
  more: 'proxy: { workers: 1 }',
  env: { NODE_OPTIONS: `${heldLoopsEnv.NODE_OPTIONS} ${process.env.BENCH_NODE_OPTIONS ?? ''}` },
});
const api = apiClient(node.url);
const followers: ChildProcess = fork(new URL('fleet/followers.ts', import.meta.url));
process.once('exit', () => followers.kill('SIGKILL'));

const residentKb = (): number => memoryKbOf(node.child.pid);

async function look(): Promise<Seen> {
  followers.send('look');
  const [seen] = (await once(followers, 'message')) as [Seen];
  return seen;
}

/** Measures from `begin` until every proxy has that many events. */
async function measured(name: string, events: number, begin: () => Promise<unknown>): Promise<void> {
  await askHeld(node);
  const [kb, nodeMs, { cpuMs }] = [residentKb(), cpuMsOf(node.child.pid), await look()];
  const healthMs: number[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const askedAt = performance.now();
      await call(node.url, 'GET', '/healthz', { withinMs: 60_000 });
      healthMs.push(performance.now() - askedAt);
      await pause(20);
    }
  })();
  const begunAt = Date.now();
  await begin();
  let seen = await look();
  let mostKb = 0;
  while (seen.least < events) {
    await pause(100);
    mostKb = Math.max(mostKb, residentKb());
    seen = await look();
  }
  isOver = true;
  await asking;
  const [took, own] = [seen.lastMs - begunAt, cpuMsOf(node.child.pid) - nodeMs];
  const health = healthMs.sort((a, b) => a - b);
  const p99 = health[Math.ceil(health.length * 0.99) - 1] ?? 0;
  console.log(
    `${name.padEnd(22)} ${String(took).padStart(6)} ms   CPU: node ${own} ms, proxies ${Math.round(seen.cpuMs - cpuMs)} ms   ` +
      `loop held ${(await askHeld(node)).main} ms   healthz p99 ${p99.toFixed(0)} of ${health.length}, most ${(health.at(-1) ?? 0).toFixed(0)} ms   ` +
      `RSS ${Math.round(kb / 1024)} -> most ${Math.round(mostKb / 1024)}, now ${Math.round(residentKb() / 1024)} MiB   ` +
      `${Math.round(seen.bytes / count / 1024)} KiB each`,
  );
  followers.send('forget');
}

const routes = (version: string) =>
  Array.from({ length: Number(values.routes) }, (_, at) => ({
    op: 'upsert',
    kind: 'routes',
    by: 'name',
    body: {
      name: `route-${at}`,
      match: {
        pathPrefix: `/shop/${at % 100}/${at}`,
        hostnames: [`host-${at % 50}.example`],
        methods: ['GET', 'POST'],
      },
      directResponse: { status: 200, body: `${version} ${at}` },
    },
  }));

const capture = async (name: string): Promise<string> => {
  const { status, body } = await api.post('/batch', { operations: routes(name) });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return await api.create('snapshots', { name });
};

const activate = async (id: string): Promise<void> => {
  const { status, body } = await api.post(`/snapshots/${id}/activate`);
  if (status !== 200) throw new Error(JSON.stringify(body));
};

const connectAll = (has?: string) => async (): Promise<void> => {
  followers.send({ url: node.url, count, has });
};

await activate(await capture('v0'));
for (let round = 1; round <= Number(values.rounds); round++) {
  const next = await capture(`v${round}`);
  await pause(1_000);
  await measured('connect storm', 1, connectAll());
  await measured('activation', 2, () => activate(next));
  const { body: fleet } = await api.get<{ proxies: { wanted: { index: number; sha256: string } }[] }>('/fleet');
  const { body: overview } = await api.get<{ clusterId: string }>('/cluster');
  const { index, sha256 } = fleet.proxies[0]?.wanted ?? { index: 0, sha256: '' };
  followers.send('close');
  await measured('reconnect storm', 1, connectAll(`${overview.clusterId} ${index} ${sha256}`));
  followers.send('close');
  await pause(1_000);
}
followers.kill();
await node.stop('SIGTERM');
process.exit();
