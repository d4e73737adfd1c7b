// `npm run bench:dashboard [-- --routes 100000 --proxies 10000]`: pages of the dashboard in a real Chromium over a real Sluice, after
// `npm run build`: processor time of the page's thread until the first row and of searches, and memory of the page. Targets: first
// row 1 s, search 100 ms, memory 200 MB.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { LargeDashboard } from '../support/large-dashboard.ts';
import { endAll } from '../support/sluice-process.ts';

const { values } = optionsOf(import.meta.url, {
  options: { routes: { type: 'string', default: '100000' }, proxies: { type: 'string', default: '10000' } },
});
const [routes, proxies] = [Number(values.routes), Number(values.proxies)];
process.once('exit', endAll);

const dashboard = await LargeDashboard.open(routes);
const row = (what: string, value: string): void => console.log(`${what.padEnd(48)} ${value}`);
row(`first row of ${routes} routes (<= 1000)`, `${Math.round(await dashboard.firstRoute())} ms CPU`);
const rounds = [await dashboard.searches(), await dashboard.searches(), await dashboard.searches()];
row('searches, the longest of three rounds (<= 100)', `${Math.round(Math.max(...rounds.flat()))} ms CPU`);
row('memory of the page (<= 200)', `${Math.round((await dashboard.heap()) / 1e6)} MB`);
row(`first row of ${proxies} proxies (<= 1000)`, `${Math.round(await dashboard.firstProxy(proxies))} ms CPU`);
await dashboard.close();
process.exit(0);
