// TLSRoute and TCPRoute as stream routes of Sluice.

import type { TCPRoute } from '../gateway-api/tcp-route.ts';
import type { TLSRoute } from '../gateway-api/tls-route.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import { entityId } from '../graph/entity-id.ts';
import type { Attachment, Entity } from '../graph/facts.ts';
import { bindingsOf } from './bindings.ts';
import { type RuleBackend, sharesOf } from './forward.ts';
import type { TranslatedRoute } from './http-route.ts';
import { routeName } from './precedence.ts';

export function translateStreamRoute(
  graph: ControllerGraph,
  kind: 'TLSRoute' | 'TCPRoute',
  route: TLSRoute | TCPRoute,
  attachments: readonly Attachment[],
): TranslatedRoute {
  const { name, namespace = '' } = route.metadata;
  // A second rule would never be reached: the first one takes every connection.
  const [rule] = route.spec.rules;
  const idParts = [kind.toLowerCase(), namespace, name];
  const shares = sharesOf(
    {
      graph,
      source: { kind, namespace },
      use: { protocol: 'tcp', certificate: undefined },
      idParts,
      path: { type: 'Exact', value: '' },
    },
    rule?.backendRefs as readonly RuleBackend[] | undefined,
  );
  const { faults, services } = shares;
  const destinations = shares.destinations.filter((share) => 'destinationId' in share);
  const entities = bindingsOf(attachments, false).map(
    ({ listenerIds, hostnames }, at): Entity => ({
      kind: 'streamRoutes' as Entity['kind'],
      body: {
        id: entityId(...idParts, at),
        name: routeName(route, at),
        match: {
          listenerIds: listenerIds.map((id) => id.split('/')[0] ?? id),
          ...(kind === 'TLSRoute' && hostnames.length > 0 && { sni: hostnames }),
        },
        forward: { destinations: destinations.length === 0 ? [nowhere] : destinations },
      },
    }),
  );
  return { entities: [...entities, ...shares.entities], refusals: [], faults, services };
}

/** Destination that does not exist: connections are closed. */
const nowhere = { destinationId: 'service:none', weight: 1 };
