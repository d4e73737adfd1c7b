// `npm run bench:proofs [-- --routes 100000 --rounds 3]`: findings and differences of a large table over the API of one node, with how
// long its main thread was held in one turn, in CPU time. Targets (issue “See a change before it is live”): `GET /findings` 3 s,
// `POST /diff` 2 s, main never held 20 ms.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { cleanTable } from '../support/clean-table.ts';
import { askHeld, heldLoopsEnv } from '../support/held-loops.ts';
import { cpuMsOf } from '../support/proc-figures.ts';
import { endAll, startSluice } from '../support/sluice-process.ts';
import { senderTo } from './api-sender.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    routes: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    profile: { type: 'string' },
  },
});
const perBatch = 20_000;
const profiling = values.profile === undefined ? '' : ` --cpu-prof --cpu-prof-dir=${values.profile}`;

const node = await startSluice({
  more: 'proxy: { workers: 1 }',
  env: { NODE_OPTIONS: `${heldLoopsEnv.NODE_OPTIONS}${profiling}` },
});
const send = senderTo(node.url);
const pid = node.child.pid ?? 0;
const held = async (): Promise<number> => (await askHeld(node)).main ?? 0;

async function measured(name: string, run: () => Promise<unknown>): Promise<void> {
  await held();
  const [begun, cpu] = [performance.now(), cpuMsOf(pid)];
  await run();
  const ms = (performance.now() - begun).toFixed(0).padStart(6);
  const spent = (cpuMsOf(pid) - cpu).toFixed(0).padStart(6);
  console.log(`${name.padEnd(34)} ${ms} ms, CPU of the process ${spent} ms, main held ${await held()} ms at most`);
}

const { listeners, destinations, routes } = cleanTable(Number(values.routes));
const all = [
  ...listeners.map((body) => ({ op: 'upsert', kind: 'listeners', body: { ...body, address: '127.0.0.1' } })),
  ...destinations.map((body) => ({ op: 'upsert', kind: 'destinations', body })),
  ...routes.map((body) => ({ op: 'upsert', kind: 'routes', body })),
];
for (let from = 0; from < all.length; from += perBatch)
  await send('/batch', { operations: all.slice(from, from + perBatch) });
const { id } = await send('/snapshots', { name: 's0' });
await send(`/snapshots/${id}/activate`);
const [first] = routes;
for (let round = 1; round <= Number(values.rounds); round++) {
  await send(`/routes/${first?.id}`, { ...first, match: { path: `/elsewhere-${round}` } }, 'PUT');
  await measured(`findings of ${routes.length} routes`, () => send('/findings?of=staged', undefined, 'GET'));
  await send(`/routes/${first?.id}`, { ...first, match: { path: `/again-${round}` } }, 'PUT');
  await measured('diff of the active and the staged', () => send('/diff', {}));
  await measured('the same with a replay', () => send('/diff', { replay: {} }));
  await measured('capture', () => send('/snapshots', { name: `s${round}` }));
}
await node.stop();
endAll();
