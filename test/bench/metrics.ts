// Cost of metrics at size (observability.md): a scrape over 10,000 routes counted by four workers, the memory of a label set,
// the scan for outdated label sets, and a record of the request log. `npm run bench:metrics`
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { listenerDefaults } from '../../src/model/defaults.ts';
import type { Configuration } from '../../src/model/proxy-config.ts';
import { ChainRecord } from '../../src/proxy/exchange/chain-record.ts';
import type { ExchangeEntry } from '../../src/proxy/exchange/entry.ts';
import { Exposition, renderInSlices } from '../../src/proxy/metrics/exposition.ts';
import type { Collected } from '../../src/proxy/metrics/families.ts';
import { ListenerCounters } from '../../src/proxy/metrics/listener-counters.ts';
import { MetricBlock, newMetricBytes, type Series } from '../../src/proxy/metrics/metric-block.ts';
import { OutdatedLabels } from '../../src/proxy/metrics/outdated-labels.ts';
import { RecentRequests } from '../../src/proxy/requests/request-recorder.ts';
import { newRing } from '../../src/proxy/requests/request-ring.ts';
import { systemClock } from '../../src/util/clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { StubExchange } from '../support/stub-exchange.ts';
import { cpuUs } from './routing/cpu.ts';

optionsOf(import.meta.url, {});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const routes = 10_000;
const workers = 4;
const buckets = listenerDefaults.metrics.histograms.durationBuckets;
const collected: Collected = {
  path: '/metrics',
  ...{ route: true, destination: true, endpoint: true, middleware: true, listener: true, consumer: true },
  protocol: 'http',
  buckets,
};
const states = { breakers: () => [], endpoints: () => [] };

const heap = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

const exposition = new Exposition();
const told: Series[][] = [];
const entries = Array.from({ length: routes }, (_, i): ExchangeEntry => {
  const route = { id: `id-${i}`, name: `route number ${i}` };
  return { route, group: undefined, links: [], action: undefined, refusing: undefined, closed: undefined };
});
const counting = { many: 0, few: 0, requests: 0 };
for (let worker = 0; worker < workers; worker++) {
  const bytes = newMetricBytes();
  exposition.block(worker, bytes);
  const list: Series[] = [];
  told.push(list);
  const block = new MetricBlock(bytes, { define: (series) => void list.push(...series), forget: () => {} });
  const counters = new ListenerCounters({ id: 'l', name: 'web', address: '0.0.0.0:80' }, collected, block);
  const exchange = new StubExchange({ clock: new ManualClock() });
  exchange.response.status = 200;
  const round = (of: readonly ExchangeEntry[]): void => {
    for (const [i, entry] of of.entries()) {
      counters.onMatch(entry);
      Object.assign(exchange, { destinationId: `d${i % 100}`, endpoint: `10.0.0.${i % 100}:80` });
      counters.onEndpoint(exchange.destinationId);
      counters.onFinish(exchange as never, entry);
    }
  };
  round(entries);
  const few = Array.from({ length: routes }, (_, i) => entries[i % 50] as ExchangeEntry);
  round(few);
  let since = process.cpuUsage();
  for (let i = 0; i < 20; i++) round(entries);
  counting.many += cpuMs(since);
  since = process.cpuUsage();
  for (let i = 0; i < 20; i++) round(few);
  counting.few += cpuMs(since);
  counting.requests += 20 * routes;
}
await new Promise((resolve) => setTimeout(resolve, 50));

// Main gets them as messages, a few at a time: nothing is shared with the workers.
const before = heap();
const messages = told.map((list) => structuredClone(list));
const labelSets = messages.reduce((sum, list) => sum + list.length, 0);
for (const [worker, list] of messages.entries()) exposition.define(worker, list);
const placesBytes = messages.flat().reduce((sum, { width }) => sum + width * 8, 0);
messages.length = 0;
const perSet = (heap() - before) / labelSets;

/** CPU time between two turns of the event loop, the longest: what else runs on the machine does not count. */
let heldMs = 0;
let watching = true;
let turn = cpuUs();
const watch = (): void => {
  const now = cpuUs();
  heldMs = Math.max(heldMs, (now - turn) / 1000);
  turn = now;
  if (watching) setImmediate(watch);
};

const walls: number[] = [];
const cpus: number[] = [];
let text = new Uint8Array();
for (let i = 0; i < 7; i++) {
  if (i === 2) setImmediate(watch);
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (i === 2) heldMs = 0;
  const since = process.cpuUsage();
  const from = performance.now();
  text = await renderInSlices(exposition, 'l', collected, states);
  walls.push(performance.now() - from);
  cpus.push(cpuMs(since));
}
watching = false;

/** Measures a scan: its length, and the time that it holds the loop. */
async function looked(run: () => Promise<void>): Promise<string> {
  watching = true;
  turn = cpuUs();
  setImmediate(watch);
  await new Promise((resolve) => setTimeout(resolve, 5));
  heldMs = 0;
  const from = performance.now();
  await run();
  const ms = performance.now() - from;
  await new Promise((resolve) => setImmediate(resolve));
  watching = false;
  return `${ms.toFixed(0)} ms beside a spinning loop, which is held ${heldMs.toFixed(1)} ms CPU at most (<= 20)`;
}

const clock = new ManualClock();
const outdated = new OutdatedLabels({ exposition, states, clock, post: () => {} });
const configuration = {
  ...{ listeners: [], groups: [], middlewares: [], destinations: [] },
  routes: entries.map(({ route }) => route),
} as unknown as Configuration;
outdated.follow([configuration]);
await outdated.look();
const looks = [
  ['looking for what is outdated, all configured', await looked(() => outdated.look())],
  [
    'the same, nothing configured any more',
    await looked(async () => {
      outdated.follow([]);
      await outdated.look();
    }),
  ],
  [
    'all of it dropped',
    await looked(async () => {
      clock.advance(10 * 60_000);
      await outdated.look();
    }),
  ],
] as const;

const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1] ?? 0;
const row = (what: string, value: string): void => console.log(`${what.padEnd(58)} ${value}`);
row(`label sets of ${workers} workers together`, String(labelSets));
const perRequest = (ms: number, requests: number): number => Math.round((ms / requests) * 1e6);
row('counting a request, all dimensions, 10,000 routes', `${perRequest(counting.many, counting.requests)} ns CPU`);
row('counting a request, all dimensions, 50 routes', `${perRequest(counting.few, counting.requests)} ns CPU`);
row('scrape, median of 7', `${median(walls).toFixed(0)} ms, ${median(cpus).toFixed(0)} ms CPU (<= 300)`);
row('event loop held at most', `${heldMs.toFixed(1)} ms CPU (<= 20)`);
row('exposition', `${(text.length / 1e6).toFixed(1)} MB (<= 30)`);
row(
  'memory of a label set in main',
  `${perSet.toFixed(0)} bytes, with its places ${(perSet + placesBytes / labelSets).toFixed(0)} (<= 1024)`,
);
for (const [what, value] of looks) row(what, value);

const exchange = new StubExchange({ path: '/api/v1/products/12345/reviews', query: 'page=2&sort=asc' });
exchange.response.status = 200;
Object.assign(exchange, { destinationId: 'd1', endpoint: '10.0.0.1:8080', attempts: 1 });
const chain = new ChainRecord();
for (const perSecond of [500, 5_000, 20_000]) {
  const memory = new RecentRequests(newRing(10_000, 1, []), 0, systemClock);
  const count = 200_000;
  const note = (i: number): void =>
    memory.note(exchange as never, entries[i % 100], (i * 1000) / perSecond, true, chain);
  for (let i = 0; i < count; i++) note(i);
  const rounds = Array.from({ length: 5 }, (_, round) => {
    const since = process.cpuUsage();
    for (let i = 0; i < count; i++) note((round + 1) * count + i);
    return perRequest(cpuMs(since), count);
  });
  row(
    `remembering a request, ${perSecond}/s, least and median of 5`,
    `${Math.min(...rounds)}, ${median(rounds)} ns CPU`,
  );
}
process.exit(0);
