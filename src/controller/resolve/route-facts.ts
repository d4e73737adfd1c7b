// A route of any kind: its parents with their conditions, the listeners that count it, and its entities in Sluice.
import { keyFor } from '../../kubernetes/objects.ts';
import { isTrue } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import type { Attachment, ParentReference, RouteFacts, RouteKind } from '../graph/facts.ts';
import { policyGroup } from '../policies/policy-kinds.ts';
import type { HttpFilter } from '../translate/filters.ts';
import { translateGrpcRoute } from '../translate/grpc-routes.ts';
import { type TranslatedRoute, translateHttpRoute } from '../translate/http-routes.ts';
import { translateStreamRoute } from '../translate/stream-routes.ts';
import { attach } from './attachment.ts';

/** Returns the facts of a route; undefined when it is not there or names no Gateway of this controller. */
export function routeFacts(
  graph: ControllerGraph,
  kind: RouteKind,
  namespace: string,
  name: string,
): RouteFacts | undefined {
  const route = graph.store.read(kind, namespace, name);
  if (route === undefined) return undefined;
  const hostnames = 'hostnames' in route.spec ? route.spec.hostnames : undefined;
  const identity = { kind, namespace, name, hostnames };
  const references = (route.spec.parentRefs ?? []) as readonly ParentReference[];
  const attachments = references.flatMap((reference) => attach(graph, identity, reference) ?? []);
  if (attachments.length === 0) return undefined;
  const accepted = attachments.filter(({ accepted: { status } }) => status === 'True');
  const translated = translate(graph, kind, route, accepted);
  const [refusal] = translated.refusals;
  const [fault] = translated.faults;
  return {
    generation: route.metadata.generation ?? 0,
    parents: attachments.map(({ reference, accepted: own }) => ({
      reference,
      conditions: [
        own.status === 'True' && translated.entities.length === 0 ? (refusal ?? own) : own,
        fault ?? isTrue('ResolvedRefs', 'ResolvedRefs', 'all references are resolved'),
        ...(refusal !== undefined && own.status === 'True' && translated.entities.length > 0
          ? [isTrue('PartiallyInvalid', 'UnsupportedValue', refusal.message)]
          : []),
      ],
    })),
    attached: refusal === undefined || translated.entities.length > 0 ? attachedTo(accepted) : [],
    services: [...new Set(translated.services)],
    gateways: [...new Set(accepted.map(({ gateway }) => gateway.key))],
    middlewares: middlewaresOf(namespace, route),
    entities: translated.entities,
  };
}

/** Keys of the Middlewares that rules of a route name. */
function middlewaresOf(
  namespace: string,
  { spec }: { readonly spec: { readonly rules?: readonly object[] } },
): string[] {
  const filters = (spec.rules ?? []).flatMap((rule) => (rule as { filters?: readonly HttpFilter[] }).filters ?? []);
  const references = filters.flatMap(({ extensionRef }) => extensionRef ?? []);
  const own = references.filter(({ group, kind }) => group === policyGroup && kind === 'Middleware');
  return [...new Set(own.map(({ name }) => keyFor(namespace, name)))];
}

const attachedTo = (attachments: readonly Attachment[]): string[] => [
  ...new Set(attachments.flatMap(({ listeners }) => listeners.map(({ listener }) => listener.id))),
];

function translate(
  graph: ControllerGraph,
  kind: RouteKind,
  route: unknown,
  attachments: readonly Attachment[],
): TranslatedRoute {
  type Of<T extends (graph: ControllerGraph, route: never, ...rest: never[]) => unknown> = Parameters<T>[1];
  switch (kind) {
    case 'HTTPRoute':
      return translateHttpRoute(graph, route as Of<typeof translateHttpRoute>, attachments);
    case 'GRPCRoute':
      return translateGrpcRoute(graph, route as Of<typeof translateGrpcRoute>, attachments);
    case 'TLSRoute':
    case 'TCPRoute':
      return translateStreamRoute(graph, kind, route as Parameters<typeof translateStreamRoute>[2], attachments);
  }
}
