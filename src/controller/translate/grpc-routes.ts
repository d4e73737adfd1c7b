// GRPCRoute as routes of Sluice: a method of gRPC is a path.

import type { GRPCRoute } from '../gateway-api/grpc-route.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import type { Attachment, Entity } from '../graph/facts.ts';
import { type Binding, bindingsOf } from './bindings.ts';
import { type HttpFilter, readFilters } from './filters.ts';
import { refusalOfReferences } from './foreign-references.ts';
import { mirrorsOf, type RuleBackend, sharesOf, unresolvedShare } from './forward-action.ts';
import { firstOfEachName } from './header-names.ts';
import { joined, matcherOf, type TranslatedRoute } from './http-routes.ts';
import { grpcRank, priorityOf, routeName } from './precedence.ts';

type Rule = NonNullable<GRPCRoute['spec']['rules']>[number];
type RuleMatch = NonNullable<Rule['matches']>[number];

export function translateGrpcRoute(
  graph: ControllerGraph,
  route: GRPCRoute,
  attachments: readonly Attachment[],
): TranslatedRoute {
  const bindings = bindingsOf(attachments, false);
  const parts = (route.spec.rules ?? []).flatMap((rule, ruleAt) => {
    const matches = rule.matches === undefined || rule.matches.length === 0 ? [{}] : rule.matches;
    return (bindings.length > 0 ? bindings : [undefined]).flatMap((binding, bindingAt) =>
      matches.map((match, matchAt) =>
        translateMatch(graph, route, rule, match as RuleMatch, binding, [ruleAt, matchAt, bindingAt]),
      ),
    );
  });
  return joined(parts);
}

function translateMatch(
  graph: ControllerGraph,
  route: GRPCRoute,
  rule: Rule,
  match: RuleMatch,
  binding: Binding | undefined,
  numbers: readonly [rule: number, match: number, binding: number],
): TranslatedRoute {
  const { name, namespace = '' } = route.metadata;
  const idParts = [...graph.idPrefix, 'grpcroute', namespace, name, numbers[0]];
  const filters = readFilters(graph, { namespace, idParts }, rule.filters as readonly HttpFilter[] | undefined);
  const context = {
    graph,
    source: { kind: 'GRPCRoute', namespace },
    use: { protocol: 'http2', certificate: binding?.certificate },
    idParts,
    path: { type: 'Exact', value: '' },
  } as const;
  const shares = sharesOf(context, rule.backendRefs as readonly RuleBackend[] | undefined);
  const copies = mirrorsOf(context, filters.mirrors);
  const { method, headers: sent = [] } = match;
  const headers = firstOfEachName(sent);
  const faults = [...(filters.resolved === undefined ? [] : [filters.resolved]), ...shares.faults, ...copies.faults];
  const services = [...shares.services, ...copies.services];
  if (binding === undefined) return { entities: [], refusals: [], faults, services };
  const isExact = (method?.type ?? 'Exact') === 'Exact';
  const entity: Entity = {
    kind: 'routes',
    body: {
      id: graph.entityId('grpcroute', namespace, name, ...numbers),
      // An HTTPRoute of this name and age has a route of its own.
      name: `${routeName(route, ...numbers)} grpc`,
      listenerIds: binding.listenerIds,
      priority: priorityOf({
        host: binding.hostRank,
        path: grpcRank(method?.service, method?.method, isExact),
        hasMethod: false,
        headers: headers.length,
        queryParams: 0,
      }),
      match: {
        ...methodMatch(method?.service, method?.method, isExact),
        grpc: true,
        ...(binding.hostnames.length > 0 && { hostnames: binding.hostnames }),
        ...(headers.length > 0 && { headers: headers.map(matcherOf) }),
      },
      forward: {
        // A filter that is not there may be one that protects: nothing passes without it.
        destinations: filters.resolved === undefined ? shares.destinations : [unresolvedShare],
        failover: false,
        ...(filters.headers !== undefined && { headers: filters.headers }),
        ...(copies.mirrors.length > 0 && { mirrors: copies.mirrors }),
      },
      ...(filters.middlewares.length > 0 && { middlewareIds: filters.middlewares.map(({ body }) => body.id) }),
    },
  };
  const refusal = refusalOfReferences([entity, ...filters.middlewares]);
  if (refusal !== undefined) return { entities: [], refusals: [refusal], faults: [], services: [] };
  return {
    entities: [entity, ...filters.middlewares, ...filters.services, ...shares.entities, ...copies.entities],
    refusals: [],
    faults,
    services,
  };
}

const quoted = (text: string): string => text.replace(/[.+*?^${}()|[\]\\]/g, '\\$&');

function methodMatch(service: string | undefined, method: string | undefined, isExact: boolean): object {
  if (service === undefined && method === undefined) return {};
  if (isExact && service !== undefined)
    return method === undefined ? { pathPrefix: `/${service}` } : { path: `/${service}/${method}` };
  const part = (text: string | undefined): string =>
    text === undefined ? '[^/]+' : isExact ? quoted(text) : `(?:${text})`;
  return { pathRegex: `/${part(service)}/${part(method)}$` };
}
