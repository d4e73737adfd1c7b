// Cost of a pick of an endpoint, and of building its tables. Prints a table for docs/performance.md.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { CookieRing } from '../../src/proxy/shared/cookie-ring.ts';
import { DestinationState, destinationShape } from '../../src/proxy/shared/destination-state.ts';
import { EndpointState, endpointShape } from '../../src/proxy/shared/endpoint-state.ts';
import { SharedRows } from '../../src/proxy/shared/shared-rows.ts';
import type { Balancer } from '../../src/proxy/upstream/balance/balancer.ts';
import { crc32 } from '../../src/proxy/upstream/balance/crc32.ts';
import { built } from '../../src/proxy/upstream/balance/hash-ring.ts';
import { maglevChoice, ringChoice } from '../../src/proxy/upstream/balance/keyed-choice.ts';
import { LeastRequest } from '../../src/proxy/upstream/balance/least-request.ts';
import { RandomChoice } from '../../src/proxy/upstream/balance/random-choice.ts';
import { RoundRobin } from '../../src/proxy/upstream/balance/round-robin.ts';
import { ServingSet } from '../../src/proxy/upstream/balance/serving-set.ts';
import { placementMark } from '../../src/proxy/upstream/session/placements.ts';
import { cookieIn } from '../../src/proxy/upstream/session/session-cookie.ts';
import { SignedCookies } from '../../src/proxy/upstream/session/signed-cookies.ts';
import { systemClock } from '../../src/util/clock.ts';
import { cookieKeysAfter } from '../support/cookie-rings.ts';
import { seededRandom } from '../support/random.ts';
import { cpuUs } from './routing/cpu.ts';

optionsOf(import.meta.url, {});

const random = seededRandom(1);
const picks = 1_000_000;
const rounds = 7;

function serving(count: number, weightOf: (i: number) => number): ServingSet {
  const destinations = new SharedRows(destinationShape, 1);
  const rows = new SharedRows(endpointShape, 1);
  destinations.grow(0);
  rows.grow(count);
  const endpoints = Array.from({ length: count }, (_, i) => ({
    name: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}:8080`,
    weight: weightOf(i),
    priority: 0,
    state: new EndpointState(rows.row(i, 0)),
  }));
  return new ServingSet(new DestinationState(destinations.row(0, 0)), endpoints);
}

/** Microseconds of CPU of the median round, the key's sum over 36 characters included where there is one. */
function usPerPick(balancer: Balancer, set: ServingSet): number {
  const keys = Array.from({ length: 1_024 }, (_, i) => `${i.toString(16).padStart(29, '0')}:dest-1`);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = cpuUs();
    for (let i = 0; i < picks; i++) {
      if (set.refresh() === 0) throw new Error('some serve');
      const key = balancer.keyed ? crc32(keys[i & 1_023] ?? '') : 0;
      if (balancer.pick(set, key) < 0) throw new Error('one is picked');
    }
    times.push((cpuUs() - start) / picks);
  }
  return times.sort((a, b) => a - b)[rounds >> 1] ?? 0;
}

const rows: [what: string, value: string][] = [];
const even = (): number => 1;

for (const count of [10, 1_000]) {
  const set = serving(count, even);
  const weighted = serving(count, (i) => 1 + (i % 7));
  const at = (us: number): string => `${us.toFixed(3)} µs`;
  rows.push([`ROUND_ROBIN, ${count} endpoints`, at(usPerPick(new RoundRobin(), set))]);
  rows.push([`ROUND_ROBIN with weights, ${count} endpoints`, at(usPerPick(new RoundRobin(), weighted))]);
  rows.push([`RANDOM, ${count} endpoints`, at(usPerPick(new RandomChoice(random), set))]);
  rows.push([`LEAST_REQUEST of 2, ${count} endpoints`, at(usPerPick(new LeastRequest(2, random), set))]);
  rows.push([`RING_HASH of 1,024, ${count} endpoints`, at(usPerPick(built(ringChoice(set.endpoints, 1_024)), set))]);
  rows.push([`MAGLEV of 65,537, ${count} endpoints`, at(usPerPick(built(maglevChoice(set.endpoints, 65_537)), set))]);
}

for (const [what, build] of [
  ['a ring of 1,024 nodes', () => ringChoice(serving(1_000, even).endpoints, 1_024)],
  ['a ring of 8,388,608 nodes', () => ringChoice(serving(1_000, even).endpoints, 8_388_608)],
  ['a table of 65,537 slots', () => maglevChoice(serving(1_000, even).endpoints, 65_537)],
  ['a table of 5,000,011 slots', () => maglevChoice(serving(1_000, even).endpoints, 5_000_011)],
] as const) {
  const start = performance.now();
  let longest = 0;
  const steps = build();
  for (let before = performance.now(); ; before = performance.now()) {
    const { done } = steps.next();
    longest = Math.max(longest, performance.now() - before);
    if (done) break;
  }
  rows.push([
    `${what}, 1,000 endpoints`,
    `${(performance.now() - start).toFixed(1)} ms, longest step ${longest.toFixed(1)} ms`,
  ]);
}

/** Microseconds of CPU of the median round. */
function usPerCookie(cookies: readonly string[], choose: (line: string) => number, count: number): number {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = cpuUs();
    for (let i = 0; i < count; i++) if (choose(cookies[i % cookies.length] ?? '') < 0) throw new Error('one is chosen');
    times.push((cpuUs() - start) / count);
  }
  return times.sort((a, b) => a - b)[rounds >> 1] ?? 0;
}

{
  const set = serving(10, even);
  const ring = built(ringChoice(set.endpoints, 1_024));
  const marks = set.endpoints.map(({ name }) => placementMark(name));
  const keys = new CookieRing();
  keys.write(cookieKeysAfter(8).keys);
  const signed = new SignedCookies(keys, systemClock);
  if (!signed.isKeyed) throw new Error('there are keys');
  const scope = { high: 1, low: 2 };
  const sealed = (i: number): string => signed.seal('s', [{ ...scope, mark: marks[i % 10] ?? 0, endS: 0 }]);
  const line = (value: string): string => `theme=dark; s=${value}; lang=en`;
  const ids = Array.from({ length: 1_024 }, (_, i) => line(i.toString(16).padStart(32, '0')));
  const known = Array.from({ length: 1_024 }, (_, i) => line(sealed(i)));
  const unknown = Array.from({ length: 20_000 }, (_, i) => line(sealed(i)));
  const bySigned = (header: string): number => {
    const opened = signed.open('s', cookieIn(header, 's'));
    const found = typeof opened === 'string' ? opened : signed.placementIn(opened, scope);
    return typeof found === 'string' ? -1 : marks.indexOf(found.mark);
  };
  const byId = (header: string): number => ring.pick(set, crc32(`${cookieIn(header, 's')}:dest-1`));
  const at = (us: number): string => `${us.toFixed(3)} µs`;
  set.refresh();
  rows.push(['sticky without a store, 10 endpoints', at(usPerCookie(ids, byId, picks))]);
  rows.push(['sticky by a signed cookie that was opened before', at(usPerCookie(known, bySigned, picks))]);
  rows.push(['sticky by a signed cookie that was not', at(usPerCookie(unknown, bySigned, unknown.length))]);
  rows.push(['sealing a cookie', at(usPerCookie(ids, (text) => sealed(text.length).length, 20_000))]);
}

for (const [what, value] of rows) console.log(`| ${what} | ${value} |`);
