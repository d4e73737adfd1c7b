// `npm run soak:dashboard -- --seconds 3600 --rate 20`: pages of the dashboard that stay open in a real Chromium, each in a tab of
// its own, while a real Sluice has live traffic, edits and activations. Prints the memory of each page once its garbage is
// collected and its slope over the later half. Passes (exit 0) when no heap, no number of nodes of the document and no number
// of listeners grows, and when no page complained.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { apiClient } from '../support/api-client.ts';
import { TestBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { PageGauge, type PageMemory } from '../support/page-memory.ts';
import { endAll, startSluice } from '../support/sluice-process.ts';
import { type Growth, growthOf } from './verdict.ts';

const { values } = optionsOf(import.meta.url, {
  options: { seconds: { type: 'string', default: '3600' }, rate: { type: 'string', default: '20' } },
});
const seconds = Number(values.seconds);
const rate = Number(values.rate);
const slugs = ['overview', 'topology', 'routes', 'requests', 'staged', 'rollout', 'fleet', 'cluster'] as const;
const samplesMax = 40;
const routes = 200;
const editEveryMs = 5_000;
const activateEveryMs = 30_000;

interface Sample extends PageMemory {
  /** Part of the run that was over, 0 to 1. */
  readonly at: number;
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const mib = (bytes: number): string => `${(bytes / (1 << 20)).toFixed(2)} MiB`;

async function soak(): Promise<boolean> {
  const [browser, sluice, port] = await Promise.all([
    TestBrowser.start(),
    startSluice({ more: 'proxy: { workers: 1 }\n' }),
    freePort(),
  ]);
  const api = apiClient(sluice.url);
  const route = (at: number, status: number) => ({
    ...{ id: `r${at}`, name: `route ${at}`, match: { pathPrefix: `/r${at}` } },
    directResponse: { status },
  });
  await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
  for (let at = 0; at < routes; at++) await api.create('routes', route(at, at % 17 === 0 ? 503 : 200));
  await api.activateAs('first');
  const address = `http://127.0.0.1:${port}`;
  await eventually(async () => void (await fetch(`${address}/r1`)).text());

  const endsAt = performance.now() + seconds * 1_000;
  const isOver = (): boolean => performance.now() >= endsAt;
  const traffic = async (): Promise<void> => {
    for (let i = 0; !isOver(); i++) {
      await fetch(`${address}/r${(i * 7) % (routes + 5)}`).then((answer) => answer.text());
      await later(1_000 / rate);
    }
  };
  const edits = async (): Promise<void> => {
    for (let i = 0; !isOver(); i++) {
      await api.put(`/routes/r${i % routes}`, route(i % routes, 200 + (i % 5)));
      if (i % (activateEveryMs / editEveryMs) === 0) await api.activateAs(`edit ${i}`);
      await later(editEveryMs);
    }
  };

  const opened = await Promise.all(slugs.map((slug) => browser.open(`${sluice.url}/ui/${slug}`)));
  const gauges = await Promise.all(opened.map(({ page }) => PageGauge.of(page)));
  const seen = slugs.map((): Sample[] => []);
  const look = async (): Promise<void> => {
    for (let i = 1; i <= samplesMax; i++) {
      const at = i / samplesMax;
      await later(Math.max(0, endsAt - (1 - at) * seconds * 1_000 - performance.now()));
      for (const [place, gauge] of gauges.entries()) seen[place]?.push({ at, ...(await gauge.memory()) });
      const heaps = slugs.map((slug, place) => `${slug} ${mib(seen[place]?.at(-1)?.heap ?? 0)}`);
      console.log(`${Math.round(at * seconds)} s: ${heaps.join(', ')}`);
    }
  };
  await Promise.all([traffic(), edits(), look()]);
  let hasPassed = true;
  for (const [place, samples] of seen.entries()) hasPassed = isFlat(slugs[place] ?? '', samples) && hasPassed;
  for (const each of opened)
    await each.close().catch((error: Error) => {
      hasPassed = false;
      console.log(error.message);
    });
  await browser.stop();
  await sluice.stop();
  console.log(hasPassed ? 'soak: passed' : 'soak: failed');
  return hasPassed;
}

function isFlat(slug: string, samples: readonly Sample[]): boolean {
  const grown: readonly Growth<string>[] = [
    growthOf(samples, 'heap', 0.5, ({ heap }) => heap, 2 << 20),
    growthOf(samples, 'nodes', 0.5, ({ nodes }) => nodes, 200),
    growthOf(samples, 'listeners', 0.5, ({ listeners }) => listeners, 50),
  ];
  for (const { what, early, late, bound } of grown) {
    const shown = what === 'heap' ? mib : String;
    console.log(`${slug}: ${what} ${shown(early)} early, ${shown(late)} late, at most ${shown(Math.round(bound))}`);
  }
  console.log(`${slug}: slope of the later half ${mib(slopeOf(samples.filter(({ at }) => at >= 0.5)))} an hour`);
  return grown.every(({ late, bound }) => late <= bound);
}

/** Slope of the heap by least squares, in bytes an hour. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [at, heap] = [mean((sample) => sample.at), mean((sample) => sample.heap)];
  const rise = samples.reduce((sum, sample) => sum + (sample.at - at) * (sample.heap - heap), 0);
  const run = samples.reduce((sum, sample) => sum + (sample.at - at) ** 2, 0);
  return ((rise / run) * 3_600) / seconds;
}

process.once('SIGINT', () => process.exit(130));
process.once('exit', endAll);
const passed = await soak();
process.exit(passed ? 0 : 1);
