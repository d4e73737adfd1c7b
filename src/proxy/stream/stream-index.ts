// Stream index: the stream routes of one binding (a listener, a section of it, or all of them) by server name and
// address of the client. An exact name comes before a wildcard of one label, that before none; then the longest range,
// then the name of the route (layer4.md §2).
import { canonicalHost } from '../target/host.ts';
import { CidrMap, type Ranged } from './cidr-map.ts';
import type { StreamPlan } from './stream-plan.ts';

type Plans = CidrMap<StreamPlan>;

/** Steps of a look-up, by how exact the server name is. */
const levels = ['exact', 'wildcard', 'any'] as const;

export class StreamIndex {
  readonly #exact = new Map<string, Plans>();
  /** By the part behind the first label: `.example.com`. */
  readonly #wildcard = new Map<string, Plans>();
  readonly #any: Plans = new CidrMap();

  /** Adds a route; routes are added in ascending order of their names. */
  add(plan: StreamPlan, serverNames: readonly string[], ranges: readonly string[]): void {
    if (serverNames.length === 0) addTo(this.#any, plan, ranges);
    for (const text of serverNames) {
      const name = canonicalHost(text);
      const isWildcard = name.startsWith('*.');
      const map = isWildcard ? this.#wildcard : this.#exact;
      const key = isWildcard ? name.slice(1) : name;
      let plans = map.get(key);
      if (plans === undefined) {
        plans = new CidrMap();
        map.set(key, plans);
      }
      addTo(plans, plan, ranges);
    }
  }

  /** @param serverName in lower case and without a last dot; empty: none */
  find(level: (typeof levels)[number], serverName: string, clientIp: string): Ranged<StreamPlan> | undefined {
    if (level === 'any') return this.#any.find(clientIp);
    if (serverName === '') return undefined;
    if (level === 'exact') return this.#exact.get(serverName)?.find(clientIp);
    const dot = this.#wildcard.size === 0 ? -1 : serverName.indexOf('.');
    return dot > 0 ? this.#wildcard.get(serverName.slice(dot))?.find(clientIp) : undefined;
  }
}

/** Returns the first of all routes in the indexes that match. */
export function firstOf(
  indexes: readonly (StreamIndex | undefined)[],
  serverName: string,
  clientIp: string,
): StreamPlan | undefined {
  for (const level of levels) {
    let first: Ranged<StreamPlan> | undefined;
    for (const index of indexes) {
      const found = index?.find(level, serverName, clientIp);
      if (found !== undefined && (first === undefined || comesBefore(found, first))) first = found;
    }
    if (first !== undefined) return first.value;
  }
  return undefined;
}

const comesBefore = (one: Ranged<StreamPlan>, other: Ranged<StreamPlan>): boolean =>
  one.bits === other.bits ? one.value.name < other.value.name : one.bits > other.bits;

function addTo(plans: Plans, plan: StreamPlan, ranges: readonly string[]): void {
  if (ranges.length === 0) plans.addAny(plan);
  for (const range of ranges) plans.add(range, plan);
}
