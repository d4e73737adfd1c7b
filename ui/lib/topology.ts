// Graph of a configuration in five columns: listeners, routes, middlewares, destinations, endpoints.
import type { GroupEntity, RouteEntity } from './route-rows.ts';
import type { Entity } from './types.ts';

export const columnNames = ['Listeners', 'Routes', 'Middlewares', 'Destinations', 'Endpoints'] as const;

export interface Node {
  readonly key: string;
  readonly column: number;
  readonly label: string;
  /** Id of the route or destination that its traffic is known by. */
  readonly subject: string | undefined;
  /** Resources that it stands for. */
  readonly count: number;
}

interface Edge {
  readonly from: string;
  readonly to: string;
}

export interface Graph {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
}

export interface Parts {
  readonly listeners: readonly Entity[];
  readonly routes: readonly RouteEntity[];
  readonly groups: readonly GroupEntity[];
  readonly middlewares: readonly Entity[];
  readonly destinations: readonly Entity[];
}

/** Nodes beyond which the columns collapse: routes to their groups, middlewares and endpoints to one node each. */
export const nodesMax = 200;

export function graphOf(all: Parts): Graph {
  const parts = { ...all, routes: all.routes.filter(({ disabled }) => disabled !== true) };
  const count = parts.routes.length + parts.middlewares.length + parts.destinations.length + parts.listeners.length;
  return count > nodesMax ? collapsed(parts) : whole(parts);
}

class Builder {
  readonly nodes = new Map<string, Node>();
  readonly edges = new Map<string, Edge>();

  node(column: number, id: string, label: string, subject?: string, count = 1): string {
    const key = `${column}/${id}`;
    const known = this.nodes.get(key);
    this.nodes.set(key, { key, column, label, subject, count: known === undefined ? count : known.count });
    return key;
  }

  edge(from: string, to: string): void {
    this.edges.set(`${from} ${to}`, { from, to });
  }

  get graph(): Graph {
    return { nodes: [...this.nodes.values()], edges: [...this.edges.values()] };
  }
}

const endpointsOf = ({ host, port, endpoints }: Entity): string[] => {
  const list = Array.isArray(endpoints) ? (endpoints as { host?: string; port?: number }[]) : [];
  return list.length > 0
    ? list.map((each) => `${each.host}:${each.port}`)
    : host === undefined
      ? []
      : [`${String(host)}:${String(port ?? '')}`];
};

function whole({ listeners, routes, groups, middlewares, destinations }: Parts): Graph {
  const builder = new Builder();
  const names = new Map(middlewares.map(({ id, name }) => [id, name]));
  const byId = new Map(destinations.map((each) => [each.id, each]));
  const open = listeners.map(({ id, name }) => builder.node(0, id, name));
  for (const route of routes) {
    const own = builder.node(1, route.id, route.name, route.id);
    for (const listener of open) builder.edge(listener, own);
    const inherited = groups
      .filter(({ routeIds }) => routeIds?.includes(route.id))
      .flatMap((group) => group.middlewareIds ?? []);
    let last = own;
    for (const id of new Set([...inherited, ...(route.middlewareIds ?? [])])) {
      const next = builder.node(2, id, names.get(id) ?? id);
      builder.edge(last, next);
      last = next;
    }
    for (const { destinationId } of route.forward?.destinations ?? []) {
      const destination = byId.get(destinationId);
      const target = builder.node(3, destinationId, destination?.name ?? destinationId, destinationId);
      builder.edge(last, target);
      for (const endpoint of destination === undefined ? [] : endpointsOf(destination))
        builder.edge(target, builder.node(4, `${destinationId}/${endpoint}`, endpoint));
    }
  }
  return builder.graph;
}

function collapsed({ listeners, routes, groups, destinations }: Parts): Graph {
  const builder = new Builder();
  const groupOf = new Map(groups.flatMap((group) => (group.routeIds ?? []).map((id) => [id, group] as const)));
  const sizes = new Map<string, number>();
  for (const { id } of routes) {
    const group = groupOf.get(id)?.id ?? '';
    sizes.set(group, (sizes.get(group) ?? 0) + 1);
  }
  const open = builder.node(0, 'all', `${listeners.length} listeners`, undefined, listeners.length);
  const isMany = destinations.length > nodesMax / 2;
  for (const route of routes) {
    const group = groupOf.get(route.id);
    const size = sizes.get(group?.id ?? '') ?? 0;
    const label = `${group?.name ?? 'Routes without a group'} (${size})`;
    const own = builder.node(1, group?.id ?? 'none', label, undefined, size);
    builder.edge(open, own);
    for (const { destinationId } of route.forward?.destinations ?? []) {
      const target = isMany
        ? builder.node(3, 'all', `${destinations.length} destinations`, undefined, destinations.length)
        : builder.node(
            3,
            destinationId,
            destinations.find(({ id }) => id === destinationId)?.name ?? destinationId,
            destinationId,
          );
      builder.edge(own, target);
    }
  }
  return builder.graph;
}

/** Returns the keys of all nodes on a path through one. */
export function pathThrough({ edges }: Graph, key: string): ReadonlySet<string> {
  const forth = new Set([key]);
  for (const at of forth) for (const { from, to } of edges) if (from === at) forth.add(to);
  const back = new Set([key]);
  for (const at of back) for (const { from, to } of edges) if (to === at) back.add(from);
  return new Set([...forth, ...back]);
}
