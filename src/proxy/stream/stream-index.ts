// Stream index: the stream routes of one binding (a listener, a section of it, or all of them) by server name and
// address of the client. An exact name comes before a wildcard of one label, that before one of any number of labels, of
// which the longest suffix counts, and that before none; then the longest range, then the name of the route (layer4.md §2).
import { canonicalHost } from '../target/host.ts';
import { CidrMap, type Ranged } from './cidr-map.ts';
import type { StreamPlan } from './stream-plan.ts';

type Plans = CidrMap<StreamPlan>;

/** Kinds of server names of a route, by how exact they are. */
type Level = 'exact' | 'wildcard' | 'suffix';

export class StreamIndex {
  /** By name, and by the part behind the wildcard: `.example.com`. */
  readonly #maps: Readonly<Record<Level, Map<string, Plans>>> = {
    exact: new Map(),
    wildcard: new Map(),
    suffix: new Map(),
  };
  readonly #any: Plans = new CidrMap();

  /** Adds a route; routes are added in ascending order of their names. */
  add(plan: StreamPlan, serverNames: readonly string[], ranges: readonly string[]): void {
    if (serverNames.length === 0) addTo(this.#any, plan, ranges);
    for (const text of serverNames) {
      const name = canonicalHost(text);
      const level = name.startsWith('**.') ? 'suffix' : name.startsWith('*.') ? 'wildcard' : 'exact';
      const key = name.replace(/^\*+/, '');
      const map = this.#maps[level];
      let plans = map.get(key);
      if (plans === undefined) {
        plans = new CidrMap();
        map.set(key, plans);
      }
      addTo(plans, plan, ranges);
    }
  }

  find(level: Level, key: string, clientIp: string): Ranged<StreamPlan> | undefined {
    return this.#maps[level].get(key)?.find(clientIp);
  }

  findAny(clientIp: string): Ranged<StreamPlan> | undefined {
    return this.#any.find(clientIp);
  }

  get hasSuffixes(): boolean {
    return this.#maps.suffix.size > 0;
  }
}

type Indexes = readonly (StreamIndex | undefined)[];

/**
 * Returns the first of all routes in the indexes that match.
 *
 * @param serverName in lower case and without a last dot; empty: none
 */
export function firstOf(indexes: Indexes, serverName: string, clientIp: string): StreamPlan | undefined {
  const found =
    (serverName === '' ? undefined : firstNamed(indexes, serverName, clientIp)) ??
    firstIn(indexes, (index) => index.findAny(clientIp));
  return found?.value;
}

function firstNamed(indexes: Indexes, serverName: string, clientIp: string): Ranged<StreamPlan> | undefined {
  const at = (level: Level, key: string) => firstIn(indexes, (index) => index.find(level, key, clientIp));
  const exact = at('exact', serverName);
  if (exact !== undefined) return exact;
  let dot = serverName.indexOf('.');
  const wildcard = dot > 0 ? at('wildcard', serverName.slice(dot)) : undefined;
  if (wildcard !== undefined || !indexes.some((index) => index?.hasSuffixes === true)) return wildcard;
  for (; dot > 0; dot = serverName.indexOf('.', dot + 1)) {
    const suffix = at('suffix', serverName.slice(dot));
    if (suffix !== undefined) return suffix;
  }
  return undefined;
}

function firstIn(
  indexes: Indexes,
  find: (index: StreamIndex) => Ranged<StreamPlan> | undefined,
): Ranged<StreamPlan> | undefined {
  let first: Ranged<StreamPlan> | undefined;
  for (const index of indexes) {
    const found = index && find(index);
    if (found !== undefined && (first === undefined || comesBefore(found, first))) first = found;
  }
  return first;
}

const comesBefore = (one: Ranged<StreamPlan>, other: Ranged<StreamPlan>): boolean =>
  one.bits === other.bits ? one.value.name < other.value.name : one.bits > other.bits;

function addTo(plans: Plans, plan: StreamPlan, ranges: readonly string[]): void {
  if (ranges.length === 0) plans.addAny(plan);
  for (const range of ranges) plans.add(range, plan);
}
