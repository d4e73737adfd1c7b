// A Middleware of sluice.dev as a middleware of Sluice: the same block, with Services in the place of destinations.

import { entityId } from '../graph/entity-id.ts';
import type { Entity } from '../graph/facts.ts';
import type { MiddlewarePolicy } from '../policies/policy-kinds.ts';

export function policyEntity({ metadata, spec }: MiddlewarePolicy): Entity {
  const [type = ''] = Object.keys(spec);
  const namespace = metadata.namespace ?? '';
  return {
    kind: 'middlewares',
    body: {
      id: entityId('middleware', namespace, metadata.name),
      name: `${namespace}/${metadata.name}`,
      type,
      [type]: spec[type],
    },
  };
}
