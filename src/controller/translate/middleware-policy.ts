// A Middleware of sluice.dev as a middleware of Sluice: the same block, with a Service in the place of a destination.

import { type Condition, isFalse } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import { entityId } from '../graph/entity-id.ts';
import type { Entity } from '../graph/facts.ts';
import type { MiddlewarePolicy } from '../policies/policy-kinds.ts';
import { destinationOf, findService } from './backend.ts';

/** Fields that name a destination, by the type of the middleware. */
const destinationFields: Readonly<Record<string, string>> = {
  jwt: 'jwksDestinationId',
  extAuthz: 'destinationId',
  extProc: 'destinationId',
};

interface ServiceReference {
  readonly name: string;
  readonly port: number;
}

export interface TranslatedPolicy {
  /** The middleware first. */
  readonly entities: readonly Entity[];
  readonly fault: Condition | undefined;
}

const middlewareId = (namespace: string, name: string): string => entityId('middleware', namespace, name);

/** Returns the key of the entity that a Middleware becomes. @param key `namespace/name` */
export function middlewareEntityKey(key: string): string {
  const [namespace = '', name = ''] = key.split('/');
  return `middlewares/${middlewareId(namespace, name)}`;
}

export function policyEntities(graph: ControllerGraph, { metadata, spec }: MiddlewarePolicy): TranslatedPolicy {
  const [type = ''] = Object.keys(spec);
  const namespace = metadata.namespace ?? '';
  const { serviceRef, ...block } = (spec[type] ?? {}) as { serviceRef?: ServiceReference };
  const middleware = (fields: object): Entity => ({
    kind: 'middlewares',
    body: {
      id: middlewareId(namespace, metadata.name),
      name: `${namespace}/${metadata.name}`,
      type,
      [type]: { ...block, ...fields },
    },
  });
  const field = destinationFields[type];
  if (serviceRef === undefined || field === undefined) return { entities: [middleware({})], fault: undefined };
  const found = findService(graph, namespace, serviceRef.name, serviceRef.port);
  if (found === undefined) {
    const message = `Middleware ${namespace}/${metadata.name}: there is no port ${serviceRef.port} of Service ${serviceRef.name}`;
    return { entities: [], fault: isFalse('ResolvedRefs', 'BackendNotFound', message) };
  }
  const isGrpc = (block as { protocol?: string }).protocol === 'grpc';
  const destination = destinationOf(graph, found, { protocol: isGrpc ? 'http2' : 'http', certificate: undefined });
  if (destination === undefined) {
    const message = `Middleware ${namespace}/${metadata.name}: its Service cannot be reached under TLS`;
    return { entities: [], fault: isFalse('ResolvedRefs', 'BackendNotFound', message) };
  }
  return { entities: [middleware({ [field]: destination.body.id }), destination], fault: undefined };
}
