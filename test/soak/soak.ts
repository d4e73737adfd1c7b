// `npm run soak -- --minutes 10`: a real Sluice under keep-alive clients of HTTP/1.1 and HTTP/2, WebSockets over both, 10,000
// new connections and 100 activations a minute; `--all`: through every middleware, with services, copies, tries, health
// checks, metrics and traces, at a fifth of that rate. Passes (exit 0) when no request failed and neither memory nor handles grow (issue of the engine, check 2).
import { join } from 'node:path';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { type GaugedSluice, gaugedSluice, type Held } from '../support/gauge.ts';
import { startLoad } from '../support/load.ts';
import { CountingBackend } from '../support/long-lived.ts';
import { OtlpReceiver } from '../support/otlp-receiver.ts';
import { endAll } from '../support/sluice-process.ts';
import { asking, breakingOff, leaving, startVisits, tunnelling } from '../support/visits.ts';
import { startActivations, twoSnapshots } from './activations.ts';
import { allFeatures, noFeatures } from './features.ts';
import { startStreams } from './streams.ts';
import { growths, type Sample } from './verdict.ts';

const { values } = optionsOf(import.meta.url, {
  options: { minutes: { type: 'string', default: '10' }, all: { type: 'boolean', default: false } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes wants a number above 0, not ${values.minutes}`);
const sampleMs = Math.min(5_000, minutes * 1_000);
/** Pause of clients, longer with every feature: the services in this process then work as much as the proxy. */
const pauseMs = values.all ? 1_000 : 50;
const visitsPerMinute = values.all ? 2_000 : 10_000;
const activationsPerMinute = values.all ? 20 : 100;
const clients = 64;
/** Connections of HTTP/2. */
const streamClients = 16;
const paths = ['/steady', '/changing'];
/** Most visitors take their answer. */
const ways = [leaving, breakingOff, tunnelling, ...Array.from({ length: 7 }, () => asking)];

async function soak(): Promise<boolean> {
  const upstream = new CountingBackend(0);
  const upstreamPort = await upstream.start();
  const traces = values.all ? `{ endpoint: ${(await new OtlpReceiver().start()).url}, sampleRatio: 0.01 }` : '';
  const gauged = await gaugedSluice(values.all ? `telemetry: { traces: ${traces} }` : '');
  const api = apiClient(gauged.sluice.url);
  const port = await freePort();
  const features = values.all ? await allFeatures(api, join(gauged.sluice.storePath, 'logs')) : noFeatures;
  const snapshots = await twoSnapshots(api, { port, upstreamPort, features });
  const loads = paths.map((path) =>
    startLoad(`http://127.0.0.1:${port}${path}`, 'ok', { clients: clients / paths.length, pauseMs }),
  );
  const visits = startVisits(port, { perMinute: visitsPerMinute, paths, ways });
  const streams = startStreams(port, paths, streamClients, pauseMs);
  const activations = startActivations(api, snapshots, activationsPerMinute);
  const samples = await sampleFor(minutes * 60_000, gauged, () => {
    const served = loads.reduce((sum, load) => sum + load.served, 0);
    return `${served} requests, ${visits.count} visits, ${streams.count} streams, ${activations.count} activations`;
  });
  await Promise.all([visits.stop(), streams.stop(), activations.stop(), ...loads.map((load) => load.stop())]);
  await gauged.sluice.stop();
  upstream.stop();
  const failed = [...visits.failed, ...streams.failed, ...activations.failed, ...loads.flatMap((load) => load.failed)];
  const missing = [
    shortOf('visits', visits.count, visitsPerMinute * minutes),
    shortOf('activations', activations.count, activationsPerMinute * minutes),
  ].flat();
  return report(samples, failed, missing);
}

async function sampleFor(ms: number, gauged: GaugedSluice, progress: () => string): Promise<Sample[]> {
  const startedAt = performance.now();
  const samples: Sample[] = [];
  for (let due = sampleMs; due <= ms; due += sampleMs) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedAt + due - performance.now())));
    const held = await gauged.held();
    const sample = { at: Math.min(1, (performance.now() - startedAt) / ms), ...summed(held) };
    samples.push(sample);
    console.log(
      `${(due / 60_000).toFixed(2)} min  RSS ${mib(sample.rss)}  heaps ${mib(sum(held, 'heapUsed'))}` +
        `  external ${mib(sum(held, 'external'))}  ${sample.descriptors} open files  ${sample.handles} handles  ${progress()}`,
    );
  }
  return samples;
}

function summed({ rss, descriptors, threads }: Held): Omit<Sample, 'at'> {
  const handles = threads.flatMap((thread) => Object.values(thread.handles)).reduce((total, count) => total + count, 0);
  return { rss, descriptors, handles };
}

const sum = ({ threads }: Held, what: 'heapUsed' | 'external'): number =>
  threads.reduce((total, thread) => total + thread[what], 0);

const mib = (bytes: number): string => `${(bytes / (1 << 20)).toFixed(1)} MiB`;

/** A run with less load than it should have had proves less. */
const shortOf = (what: string, count: number, wanted: number): string[] =>
  count >= wanted * 0.9 ? [] : [`only ${count} ${what} of ${wanted}: the machine was too busy`];

function report(samples: readonly Sample[], failed: readonly string[], missing: readonly string[]): boolean {
  const shown = (what: string, value: number): string => (what === 'RSS' ? mib(value) : value.toFixed(0));
  const grown = growths(samples);
  for (const { what, early, late, bound } of grown) {
    console.log(`${what}: ${shown(what, early)} early, ${shown(what, late)} late, at most ${shown(what, bound)}`);
  }
  console.log(`${failed.length} requests failed`);
  for (const reason of [...failed.slice(0, 10), ...missing]) console.error(reason);
  const passed = failed.length === 0 && missing.length === 0 && grown.every(({ late, bound }) => late <= bound);
  console.log(passed ? 'soak: passed' : 'soak: failed');
  return passed;
}

process.once('SIGINT', () => process.exit(130));
process.once('exit', endAll);
// The services of `--all` listen on.
process.exit((await soak()) ? 0 : 1);
