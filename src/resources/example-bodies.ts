// A body per kind that the API accepts as it stands, for the OpenAPI document: explorers fill it in, and what they make
// up from a schema alone has every action at once. Created in the order of the document's story, they make a working proxy.
import type { EditableKind } from '../model/kinds.ts';

export const exampleBodies: Readonly<Record<EditableKind, object>> = {
  listeners: { id: 'web', name: 'web', address: '127.0.0.1', port: 8081 },
  destinations: {
    id: 'backend',
    name: 'backend',
    host: '127.0.0.1',
    port: 9000,
    options: { timeouts: { connect: '2s' } },
  },
  routes: {
    id: 'shop',
    name: 'shop',
    match: { pathPrefix: '/shop', methods: ['GET', 'POST'] },
    forward: { destinations: [{ destinationId: 'backend' }], timeouts: { request: '30s' } },
  },
  groups: { id: 'public', name: 'public', pathPrefix: '/v1', routeIds: ['shop'] },
  middlewares: {
    id: 'security-headers',
    name: 'security-headers',
    type: 'headers',
    headers: { responseHeadersToAdd: [{ key: 'x-content-type-options', value: 'nosniff' }] },
  },
  streamRoutes: {
    id: 'database',
    name: 'database',
    match: { sni: ['db.example.com'] },
    forward: { destinations: [{ destinationId: 'backend' }], timeouts: { idle: '10m' } },
  },
  consumers: {
    id: 'shop-app',
    name: 'shop-app',
    credentials: [{ type: 'apiKey', key: 'f4Zk3mT0y9vQ2sXhW7pLcB' }],
  },
  secrets: { id: 'greeting', name: 'greeting', value: 'change-me' },
};
