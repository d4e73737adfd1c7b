// The total order of entries (contract.md §6.4). The counted keys are packed into one number, so that most comparisons
// are one subtraction; names decide only between entries that are equally specific.
import type { OrderKey, Precedence } from '../../model/answers/explanation.ts';
import type { Group } from '../../model/group.ts';
import type { Match } from '../../model/match.ts';
import { slicedSort } from '../../util/sliced-sort.ts';
import type { HostPattern } from '../target/host.ts';
import type { EntryPath } from '../target/path.ts';
import type { Ranked, RankedEntry } from './route-entry.ts';

/** Sorts a copy, in steps: entries of one priority and weight apart, which mostly stand in the order of their names already. */
export function* sortedEntries(entries: readonly RankedEntry[]): Generator<void, readonly RankedEntry[]> {
  const classes = new Map<number, Map<number, RankedEntry[]>>();
  for (const [at, entry] of entries.entries()) {
    const ofPriority = classes.get(entry.priority) ?? new Map<number, RankedEntry[]>();
    if (ofPriority.size === 0) classes.set(entry.priority, ofPriority);
    const ofWeight = ofPriority.get(entry.weight);
    if (ofWeight === undefined) ofPriority.set(entry.weight, [entry]);
    else ofWeight.push(entry);
    if (at % stride === 0) yield;
  }
  const sorted: RankedEntry[] = [];
  for (const [, ofPriority] of [...classes].sort(([a], [b]) => b - a)) {
    for (const [, list] of [...ofPriority].sort(([a], [b]) => a - b)) {
      for (const entry of yield* slicedSort(list, compareEntries)) sorted.push(entry);
      yield;
    }
  }
  return sorted;
}

/** Entries between two pauses. */
const stride = 1024;

export function compareEntries(a: Ranked, b: Ranked): number {
  return (
    b.priority - a.priority ||
    a.weight - b.weight ||
    bytewise(a.groupName, b.groupName) ||
    a.position - b.position ||
    bytewise(a.route.name, b.route.name) ||
    bytewise(a.route.id, b.route.id)
  );
}

/** The counted keys of one entry. Each takes a fixed range of the number; 45 bits in all, exact in a double. */
export function weightOf(
  path: EntryPath,
  hosts: readonly HostPattern[],
  headers: number,
  match: Match,
  group: Group | undefined,
): number {
  const { queryParams, methods, grpc, scheme, port, cel } = match;
  let weight: number = pathClass[path.type];
  weight = weight * 65536 + (path.type === 'prefix' ? descending(path.text.length, 65536) : 0);
  weight = weight * 1024 + descending(headers, 1024);
  weight = weight * 3 + hostClass(hosts);
  weight = weight * 1024 + descending(queryParams?.length ?? 0, 1024);
  weight = weight * 2 + (methods !== undefined && methods.length > 0 ? 0 : 1);
  weight = weight * 2 + (grpc === true ? 0 : 1);
  weight = weight * 2 + (scheme !== undefined ? 0 : 1);
  weight = weight * 2 + (port !== undefined ? 0 : 1);
  weight = weight * 2 + (cel !== undefined ? 0 : 1);
  return weight * 2 + (group ? 0 : 1);
}

/** Returns the first key in which two entries differ; `winner` is the one that is asked first. */
export function precedenceOf(winner: Ranked, own: Ranked): Precedence {
  const others = keysOf(own);
  const keys = keysOf(winner);
  const at = keys.findIndex(([, value], index) => value !== others[index]?.[1]);
  const [key, value] = keys.at(at) ?? ['routeId', winner.route.id];
  return { key, winner: value, own: others.at(at)?.[1] ?? own.route.id };
}

type Key = readonly [key: OrderKey, value: string | number];

/** The keys of `compareEntries` in their order; those that were packed into the weight are read from it again. */
function keysOf({ priority, weight, groupName, position, route }: Ranked): readonly Key[] {
  let rest = weight;
  const take = (range: number): number => {
    const value = rest % range;
    rest = Math.floor(rest / range);
    return value;
  };
  const membership = ['group', 'standalone'][take(2)] ?? '';
  const [cel = '', port = '', scheme = '', grpc = '', methods = ''] = [take(2), take(2), take(2), take(2), take(2)].map(
    (value) => (value === 0 ? 'yes' : 'no'),
  );
  const queryParams = 1023 - take(1024);
  const hostnames = ['exact', 'suffix', 'any'][take(3)] ?? '';
  const headers = 1023 - take(1024);
  const prefixLength = 65535 - take(65536);
  const path = Object.keys(pathClass)[rest] ?? '';
  return [
    ...([
      ['priority', priority],
      ['path', path],
      ['prefixLength', prefixLength],
      ['headers', headers],
    ] as const),
    ...([
      ['hostnames', hostnames],
      ['queryParams', queryParams],
      ['methods', methods],
      ['grpc', grpc],
    ] as const),
    ...([
      ['scheme', scheme],
      ['port', port],
      ['cel', cel],
      ['membership', membership],
      ['groupName', groupName],
      ['position', position],
    ] as const),
    ...([
      ['routeName', route.name],
      ['routeId', route.id],
    ] as const),
  ];
}

const pathClass = { exact: 0, prefix: 1, regex: 2 } as const;

const descending = (count: number, range: number): number => range - 1 - Math.min(count, range - 1);

function hostClass(hosts: readonly HostPattern[]): number {
  if (hosts.length === 0 || hosts.some(({ kind }) => kind === 'any')) return 2;
  return hosts.some(({ kind }) => kind === 'suffix') ? 1 : 0;
}

/** UTF-8 byte order, which is code point order: that of UTF-16 units, but surrogates come after all others. */
function bytewise(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let i = 0; i < end; i++) {
    const unit = a.charCodeAt(i);
    const other = b.charCodeAt(i);
    if (unit !== other) return rankOf(unit) - rankOf(other);
  }
  return a.length - b.length;
}

const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
