// `npm run bench:dashboard [-- --routes 100000 --proxies 10000]`: pages of the dashboard in a real Chromium over a real Sluice, after
// `npm run build`: processor time of the page's thread until the first row and of searches, memory of the page, and the longest turn of
// a loop of its node meanwhile; then, on a small node, the time until a failed guard is seen and until Undo by the keyboard is done.
// Targets: first row 1 s, search 100 ms, memory 200 MB, turn 5 ms, guard 2 s, Undo 3 s.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { apiClient } from '../support/api-client.ts';
import { prepareMistake, seeGuardFail, undoOnEveryPage } from '../support/dashboard-mistake.ts';
import { openStage } from '../support/dashboard-story.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { LargeDashboard } from '../support/large-dashboard.ts';
import { endAll } from '../support/sluice-process.ts';

const { values } = optionsOf(import.meta.url, {
  options: { routes: { type: 'string', default: '100000' }, proxies: { type: 'string', default: '10000' } },
});
const [routes, proxies] = [Number(values.routes), Number(values.proxies)];
process.once('exit', endAll);

const row = (what: string, value: string): void => console.log(`${what.padEnd(48)} ${value}`);

const dashboard = await LargeDashboard.open(routes);
await dashboard.heldLoops();
row(`first row of ${routes} routes (<= 1000)`, `${Math.round(await dashboard.firstRoute())} ms CPU`);
const rounds = [await dashboard.searches(), await dashboard.searches(), await dashboard.searches()];
row('searches, the longest of three rounds (<= 100)', `${Math.round(Math.max(...rounds.flat()))} ms CPU`);
row('memory of the page (<= 200)', `${Math.round((await dashboard.heap()) / 1e6)} MB`);
row(`first row of ${proxies} proxies (<= 1000)`, `${Math.round(await dashboard.firstProxy(proxies))} ms CPU`);
row('longest turn of a loop of the node (<= 5)', loopsText(await dashboard.heldLoops()));
await dashboard.close();

const stage = await openStage();
const { browser, sluice } = stage;
const api = apiClient(sluice.url);
const port = await freePort();
await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
await prepareMistake(api);
const opened = await browser.open(`${sluice.url}/ui/rollout`);
const undone = await undoOnEveryPage(opened.page, sluice.url);
row(`Undo by the keyboard, the longest of ${undone.length} pages (<= 3000)`, `${Math.round(Math.max(...undone))} ms`);
await opened.page.goto(`${sluice.url}/ui/rollout`);
const { ms } = await seeGuardFail(api, opened, (client) =>
  call(`http://127.0.0.1:${port}`, 'GET', '/shop', { headers: { 'x-client': client } }),
);
row('failed guard until it is seen (<= 2000)', `${ms} ms`);
await opened.close();
await stage[Symbol.asyncDispose]();
process.exit(0);

function loopsText(held: Readonly<Record<string, number>>): string {
  return Object.entries(held)
    .map(([thread, turnMs]) => `${thread} ${turnMs.toFixed(1)} ms CPU`)
    .join(', ');
}
