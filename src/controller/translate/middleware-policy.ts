// A Middleware of sluice.dev as a middleware of Sluice: the same block, with a Service in the place of a destination.

import { type Condition, isFalse } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import type { Entity } from '../graph/facts.ts';
import type { MiddlewarePolicy } from '../policies/policy-kinds.ts';
import { entityKey, entityText } from '../publish/entity-set.ts';
import { destinationOf, findService } from './backend.ts';
import { foreignReference, refersToSecrets } from './foreign-references.ts';

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
  /** Reason why rules that name it cannot have it. */
  readonly fault: Condition | undefined;
  /** Reason why it is not accepted itself. */
  readonly refusal?: string;
}

export function policyEntities(graph: ControllerGraph, policy: MiddlewarePolicy): TranslatedPolicy {
  const refused = (refusal: string): TranslatedPolicy => {
    const { namespace, name } = policy.metadata;
    const message = `Middleware ${namespace}/${name} is not accepted: ${refusal}`;
    return { entities: [], fault: isFalse('ResolvedRefs', 'UnsupportedValue', message), refusal };
  };
  if (refersToSecrets(policy.spec)) return refused(foreignReference);
  const translated = translatedPolicy(graph, policy);
  const [entity] = translated.entities;
  if (entity === undefined || !graph.isRefused(entityKey(entity), entityText(graph.named(entity)))) return translated;
  return refused('Sluice refuses it');
}

function translatedPolicy(graph: ControllerGraph, { metadata, spec }: MiddlewarePolicy): TranslatedPolicy {
  const [type = ''] = Object.keys(spec);
  const namespace = metadata.namespace ?? '';
  const { serviceRef, ...block } = (spec[type] ?? {}) as { serviceRef?: ServiceReference };
  const middleware = (fields: object): Entity => ({
    kind: 'middlewares',
    body: {
      id: graph.entityId('middleware', namespace, metadata.name),
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
