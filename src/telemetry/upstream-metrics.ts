// Metrics of upstreams beside those of the listeners: whether the store of sticky sessions is reachable, and requests that
// mirrors did not get. Made afresh for each scrape.
import { Counter, Gauge, Registry } from 'prom-client';

export interface UpstreamFigures {
  /** By thread that uses one. */
  readonly stores: readonly { readonly thread: string; readonly reached: boolean }[];
  /** Copies that were given up because the destination did not keep up; those with none left out. */
  readonly lostCopies: readonly { readonly destination: string; readonly count: number }[];
  /** Choices by signed session cookies, by their result. */
  readonly cookies: Readonly<Record<string, number>>;
}

export function upstreamMetrics({ stores, lostCopies, cookies }: UpstreamFigures): Registry {
  const registry = new Registry();
  const registers = [registry];
  const up = new Gauge({
    name: 'sluice_session_store_up',
    help: '1 while the thread reaches Redis; 0: sticky sessions stick by hash, rate limits go by their failureMode.',
    labelNames: ['thread'],
    registers,
  });
  for (const { thread, reached } of stores) up.set({ thread }, reached ? 1 : 0);
  const lost = new Counter({
    name: 'sluice_mirror_copies_lost_total',
    help: 'Copies of requests that were given up because the mirror did not keep up.',
    labelNames: ['destination'],
    registers,
  });
  for (const { destination, count } of lostCopies) lost.inc({ destination }, count);
  const signed = new Counter({
    name: 'sluice_signed_cookies_total',
    help: 'Choices of a destination or an endpoint by a signed session cookie, by result.',
    labelNames: ['result'],
    registers,
  });
  for (const [result, count] of Object.entries(cookies)) signed.inc({ result }, count);
  return registry;
}
