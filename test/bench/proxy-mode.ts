// `npm run bench:proxy-mode [-- --rounds 3 --routes 1000]`: a proxy apart from its control plane (fleet.md §2), one worker:
// from its start to the first request that it serves, in time and in CPU, and its memory before and after 2,000 requests.
// `RssFile` is mostly Node's own file, which all processes of a machine share.
import { setTimeout as pause } from 'node:timers/promises';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { cpuMsOf, memoryKbOf } from '../support/proc-figures.ts';
import { launchProxy } from '../support/proxy-process.ts';
import { endAll, startSluice } from '../support/sluice-process.ts';

const { values } = optionsOf(import.meta.url, {
  options: { rounds: { type: 'string', default: '3' }, routes: { type: 'string', default: '1000' } },
});
process.once('exit', endAll);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const port = await freePort();
const node = await startSluice({ more: 'proxy: { workers: 1 }' });
const api = apiClient(node.url);
await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
const operations = Array.from({ length: Number(values.routes) }, (_, at) => ({
  op: 'create',
  kind: 'routes',
  body: { name: `r${at}`, match: { pathPrefix: `/r/${at}` }, directResponse: { status: 200, body: `hello ${at}` } },
}));
const { status, body } = await api.post('/batch', { operations });
if (status !== 200) throw new Error(JSON.stringify(body));
await api.activateAs('v1');

function memoryOf(pid: number | undefined): string {
  const mib = (name: 'VmRSS' | 'RssAnon' | 'RssFile'): string => (memoryKbOf(pid, name) / 1024).toFixed(0);
  return `RSS ${mib('VmRSS')} MiB (RssAnon ${mib('RssAnon')}, RssFile ${mib('RssFile')})`;
}

const url = `http://127.0.0.21:${port}`;
for (let round = 0; round < Number(values.rounds); round++) {
  const startedAt = performance.now();
  const proxy = launchProxy({ controlPlanes: [node.url], proxy: '  bindAddress: 127.0.0.21' });
  const { pid } = proxy.child;
  for (;;) {
    const answer = await call(url, 'GET', '/r/7').catch(() => undefined);
    if (answer?.status === 200) break;
    await pause(2);
  }
  const first = `first request after ${(performance.now() - startedAt).toFixed(0)} ms, ${cpuMsOf(pid)} ms of CPU`;
  await pause(2_000);
  const idle = memoryOf(pid);
  for (let n = 0; n < 40; n++) await Promise.all(Array.from({ length: 50 }, (_, at) => call(url, 'GET', `/r/${at}`)));
  await pause(500);
  console.log(`${first}; ${idle}, after requests ${memoryOf(pid)}`);
  await proxy.stop('SIGKILL');
}
await node.stop('SIGTERM');
process.exit();
