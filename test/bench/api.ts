// `npm run bench:api`: the API with 10,000 routes on one real process: creates per second by 16 clients, the time of
// a full list, of a capture and of an activation, and the longest time that the event loop was held.
import { Agent, request, setGlobalDispatcher } from 'undici';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { freePort } from '../support/free-port.ts';
import { endAll, newFolder, startSluice } from '../support/sluice-process.ts';
import { senderTo } from './api-sender.ts';

optionsOf(import.meta.url, {});

const routes = 10_000;
const clients = 16;
setGlobalDispatcher(new Agent({ connections: clients }));

const folder = newFolder();
const monitor = `data:text/javascript,${encodeURIComponent(`
  import { monitorEventLoopDelay } from 'node:perf_hooks';
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  process.on('SIGUSR2', () => { process.stderr.write('held ' + Math.round(delay.max / 1e6) + '\\n'); delay.reset(); });
`)}`;
const sluice = await startSluice({ folder, env: { NODE_OPTIONS: `--import=${monitor}` } });
const api = `${sluice.url}/api/v1`;

const send = senderTo(sluice.url);

const route = (at: number) => ({
  name: `route-${at}`,
  match: { pathPrefix: `/shop/${at % 100}/${at}`, hostnames: [`host-${at % 50}.example`], methods: ['GET', 'POST'] },
  forward: { destinations: [{ destinationId: 'backend' }], timeouts: { request: '5s' } },
});

async function timed(name: string, run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  const ms = performance.now() - startedAt;
  console.log(`${name.padEnd(32)} ${ms.toFixed(0).padStart(7)} ms   loop held ${await held()} ms`);
  return ms;
}

/** Longest time that the process's event loop was held since the last call, ms. */
async function held(): Promise<number> {
  const before = sluice.output.length;
  sluice.child.kill('SIGUSR2');
  for (;;) {
    const line = sluice.output.slice(before).find((each) => each.startsWith('held '));
    if (line !== undefined) return Number(line.slice(5));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

await send('/destinations', { id: 'backend', name: 'backend', host: '127.0.0.1', port: 9 });
await send('/listeners', { name: 'web', address: '127.0.0.1', port: await freePort() });
await held();
let next = 0;
const ms = await timed(`create ${routes} routes`, () =>
  Promise.all(
    [...Array(clients)].map(async () => {
      while (next < routes) await send('/routes', route(next++));
    }),
  ),
);
console.log(`${''.padEnd(32)} ${Math.round((routes * 1000) / ms)} creates/s by ${clients} clients`);
for (let round = 0; round < 3; round++) {
  await timed('GET /routes', async () => (await request(`${api}/routes`)).body.arrayBuffer());
}
let snapshot = '';
for (let round = 0; round < 3; round++) {
  await timed('POST /snapshots', async () => (snapshot = String((await send('/snapshots', { name: `s${round}` })).id)));
  await timed('POST /snapshots/{id}/activate', () => send(`/snapshots/${snapshot}/activate`));
}
await sluice.stop();
endAll();
