// TLSRoute and TCPRoute as stream routes of Sluice.

import type { TCPRoute } from '../gateway-api/tcp-route.ts';
import type { TLSRoute } from '../gateway-api/tls-route.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import { entityId } from '../graph/entity-id.ts';
import type { Attachment, Entity } from '../graph/facts.ts';
import { hostRankMax } from '../graph/hostnames.ts';
import { bindingsOf } from './bindings.ts';
import { type RuleBackend, sharesOf } from './forward-action.ts';
import { joined, type TranslatedRoute } from './http-routes.ts';
import { nowhere } from './nowhere.ts';
import { routeName } from './precedence.ts';

export function translateStreamRoute(
  graph: ControllerGraph,
  kind: 'TLSRoute' | 'TCPRoute',
  route: TLSRoute | TCPRoute,
  attachments: readonly Attachment[],
): TranslatedRoute {
  const { name, namespace = '' } = route.metadata;
  // A second rule would never be reached: the first one takes every connection.
  const [rule] = route.spec.rules ?? [];
  const idParts = [...graph.idPrefix, kind.toLowerCase(), namespace, name];
  const bindings = bindingsOf(attachments, false);
  const parts = (bindings.length > 0 ? bindings : [undefined]).map((binding, at): TranslatedRoute => {
    const passes = binding?.mode === 'Passthrough';
    const use = { protocol: passes ? 'raw' : 'tcp', certificate: binding?.certificate } as const;
    const context = { graph, source: { kind, namespace }, use, idParts, path: { type: 'Exact', value: '' } };
    const { faults, services, ...shares } = sharesOf(context, rule?.backendRefs as readonly RuleBackend[] | undefined);
    if (binding === undefined) return { entities: [], refusals: [], faults, services };
    // Connections of a share that leads nowhere are closed, and are not given to the others.
    const destinations = shares.destinations.map((share) =>
      'destinationId' in share ? share : { ...nowhere, weight: (share as { weight: number }).weight },
    );
    const { listenerIds, hostnames, hostRank } = binding;
    const entity: Entity = {
      kind: 'streamRoutes',
      body: {
        id: entityId(...idParts, at),
        // The first by name of the routes of one server name serves: the more specific name of a route comes before its age.
        name: `${String(hostRankMax - hostRank).padStart(3, '0')} ${routeName(route, at)}`,
        match: {
          listenerIds,
          ...(kind === 'TLSRoute' && hostnames.length > 0 && { sni: hostnames.map(serverNameOf) }),
        },
        forward: { destinations, failover: false },
      },
    };
    return { entities: [entity, ...shares.entities], refusals: [], faults, services };
  });
  return joined(parts);
}

/** A wildcard of the Gateway API is for any number of labels. */
const serverNameOf = (hostname: string): string => hostname.replace(/^\*\./, '**.');
