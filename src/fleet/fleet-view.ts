// The fleet as `GET /fleet` shows it (fleet.md §5): what each node knows of the proxies whose streams it holds, put
// together. Plain data: it travels between nodes as JSON.
import {
  type FleetView,
  type NodeView,
  type ProxyState,
  type ProxyView,
  proxyStates,
} from '../model/answers/fleet-answers.ts';

/** Live proxies of a node, its own excepted. */
export interface RosterAnswer {
  /** Names the process that answers. */
  readonly life: string;
  /** Counts the changes of the list. */
  readonly version: number;
  /** Absent: the list is that of the version that was asked for. */
  readonly proxies?: readonly ProxyView[];
}

export function fleetOf(nodes: readonly NodeView[], unreachableNodes: readonly string[]): FleetView {
  const all = nodes.flatMap(({ proxies }) => proxies);
  const live = new Map<string, number>();
  for (const { id, state } of all) if (state !== 'disconnected') live.set(id, (live.get(id) ?? 0) + 1);
  const proxies = latest(all)
    .filter(({ id, state }) => state !== 'disconnected' || !live.has(id))
    .map((proxy) => ((live.get(proxy.id) ?? 0) > 1 ? { ...proxy, duplicate: true as const } : proxy))
    .sort((a, b) => compare(a.id, b.id) || compare(a.node, b.node));
  const count = (wanted: ProxyState): number => proxies.filter(({ state }) => state === wanted).length;
  const states = Object.fromEntries(proxyStates.map((state) => [state, count(state)])) as Record<ProxyState, number>;
  return {
    proxies,
    anonymous: nodes.reduce((sum, { anonymous }) => sum + anonymous, 0),
    summary: { total: proxies.length, ...states },
    unreachableNodes,
  };
}

/** Returns the latest record of each proxy that left several nodes. */
function latest(all: readonly ProxyView[]): ProxyView[] {
  const gone = new Map<string, ProxyView>();
  for (const proxy of all) {
    if (proxy.state !== 'disconnected') continue;
    const other = gone.get(proxy.id);
    if (other === undefined || other.lastSeen < proxy.lastSeen) gone.set(proxy.id, proxy);
  }
  return all.filter((proxy) => proxy.state !== 'disconnected' || gone.get(proxy.id) === proxy);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
