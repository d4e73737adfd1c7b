// The fleet as `GET /fleet` shows it (fleet.md §5): what each node knows of the proxies whose streams it holds, put
// together. Plain data: it travels between nodes as JSON.
import type { ListenerReport } from '../model/fleet-messages.ts';
import type { Problem } from '../model/problem.ts';

export interface Version {
  readonly index: number;
  /** Null: the snapshot of that version is not known here any more. */
  readonly snapshotId: string | null;
  readonly sha256: string;
}

export type ProxyState = 'current' | 'behind' | 'refused' | 'disconnected';

export const proxyStates: readonly ProxyState[] = ['current', 'behind', 'refused', 'disconnected'];

export interface ProxyView {
  readonly id: string;
  readonly embedded: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string;
  /** Node that holds its stream. */
  readonly node: string;
  /** Address that it connected from; empty for an embedded one. */
  readonly address: string;
  /** RFC 3339 UTC. */
  readonly connectedAt: string;
  readonly lastSeen: string;
  readonly installed: Version | null;
  readonly wanted: Version | null;
  /** Version of the rollout that is running. */
  readonly candidate: Version | null;
  readonly state: ProxyState;
  readonly problems: readonly Problem[];
  readonly listeners: readonly ListenerReport[];
  /** Null: not reported. */
  readonly requestsPerSecond: number | null;
  readonly errorRate: number | null;
  /** Another live stream has the same id. */
  readonly duplicate?: true;
}

/** Fleet as one node knows it. */
export interface NodeView {
  readonly proxies: readonly ProxyView[];
  readonly anonymous: number;
}

/** Live proxies of a node, its own excepted. */
export interface RosterAnswer {
  /** Names the process that answers. */
  readonly life: string;
  /** Counts the changes of the list. */
  readonly version: number;
  /** Absent: the list is that of the version that was asked for. */
  readonly proxies?: readonly ProxyView[];
}

/** A proxy that no node hears, as it was known last. */
export interface UnheardProxy {
  readonly proxy: string;
  /** Node that held its stream. */
  readonly node: string;
  /** RFC 3339 UTC. */
  readonly lastSeen: string;
}

export interface FleetView extends NodeView {
  readonly summary: Readonly<Record<ProxyState | 'total', number>>;
  /** Nodes that did not answer in time. */
  readonly unreachableNodes: readonly string[];
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
