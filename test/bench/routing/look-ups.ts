// CPU of look-ups.
//
// What a look-up costs depends on what the caches of the processor hold, so the requests are made as the proxy makes
// them, one at a time: the bytes of a head that lie hot in one small buffer, a new text of them, and host and path as
// slices of it without a hash. Each request draws its route anew and uniformly from the whole table, so the part of the index that
// it needs is as cold as a table of that size makes it, and no order or repetition helps. Names have the same length and
// requests are as many and as different in every size; what differs is the table alone. The same loop without a look-up
// runs in turn with the one that is measured, and its time is taken off: making a request is not the table's work.

import { RoutingTable } from '../../../src/proxy/match/routing-table.ts';
import type { ServedListener } from '../../../src/proxy/match/served-listener.ts';
import { cpuUs } from './cpu.ts';
import { collectGarbage } from './garbage.ts';
import { BenchRequest, type Next } from './requests.ts';

const rounds = 16;
const lookUpsPerRound = 100_000;

export interface Case {
  readonly table: Pick<RoutingTable, 'match'>;
  readonly next: Next;
}

/** Looks at a request and says nothing: what a look-up costs beyond this is its own. */
const nothing: Pick<RoutingTable, 'match'> = {
  match: ({ host, path }) => (host.charCodeAt(0) === path.charCodeAt(0) ? RoutingTable.empty.entries[0] : undefined),
};

export function lookUp(table: Pick<RoutingTable, 'match'>, next: Next, count: number): number {
  const request = new BenchRequest();
  let hits = 0;
  for (let i = 0; i < count; i++) {
    next(request);
    if (table.match(request) !== undefined) hits++;
  }
  return hits;
}

/** Table whose `match` also reads from the entry, as its caller does next. */
export const withFirstLook = (table: RoutingTable): Pick<RoutingTable, 'match'> => ({
  match(request) {
    const entry = table.match(request);
    return entry?.closed === undefined ? entry : undefined;
  },
});

/** Table whose `match` first finds the section of the host, as the caller of a table with bindings does. */
export const onListener = (table: RoutingTable, listener: ServedListener): Case['table'] => ({
  match(request) {
    (request as BenchRequest).section = listener.sectionOf(request.host);
    return table.match(request);
  },
});

function usPerLookUp(table: Pick<RoutingTable, 'match'>, next: Next, count: number): number {
  const start = cpuUs();
  lookUp(table, next, count);
  return (cpuUs() - start) / count;
}

/**
 * Cost of one look-up in each case, in microseconds: the mean over the middle half of the rounds. Every round runs all cases in turn, so that what else happens on the machine, and what the
 * compiler learns, falls on all of them alike.
 */
export function lookUpUs(cases: readonly Case[], count = lookUpsPerRound): number[] {
  const round = (): number[] =>
    cases.map(({ table, next }) => usPerLookUp(table, next, count) - usPerLookUp(nothing, next, count));
  round();
  const times = Array.from({ length: rounds }, round);
  return cases.map((_, i) => middle(times.map((each) => each[i] ?? Number.NaN)));
}

function middle(values: readonly number[]): number {
  const quarter = values.length >> 2;
  const kept = values.toSorted((a, b) => a - b).slice(quarter, values.length - quarter);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

/** Bytes that one look-up leaves behind, beside the request's own; so few look-ups that no collection comes between. */
export function allocated({ table, next }: Case): number {
  const count = 2000;
  const left = (each: Case['table']): number => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    lookUp(each, next, count);
    return process.memoryUsage().heapUsed - before;
  };
  return middle(Array.from({ length: rounds }, () => (left(table) - left(nothing)) / count));
}
