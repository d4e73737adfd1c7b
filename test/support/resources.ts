import { type EditableKind, editableKinds } from '../../src/model/kinds.ts';

const smallest: Readonly<Record<EditableKind, object>> = {
  listeners: { port: 8443 },
  destinations: { host: 'upstream.example', port: 80 },
  routes: { directResponse: { status: 200 } },
  groups: {},
  middlewares: { type: 'headers' },
  streamRoutes: { forward: { destinations: [{ destinationId: 'x' }] } },
  consumers: {},
  secrets: { value: 'CANARY' },
};

/** The smallest valid body of a kind, and what a test adds to it. */
export const body = (kind: EditableKind, name: string, more: object = {}): Record<string, unknown> => ({
  name,
  ...smallest[kind],
  ...more,
});

/** Answer of the API for `body(kind, name)` created with `id`, with the defaults that the contract makes visible. */
export const shown = (kind: EditableKind, id: string, name: string, more: object = {}): Record<string, unknown> => {
  const visible: Partial<Record<EditableKind, object>> = {
    listeners: { address: '0.0.0.0' },
    routes: { match: {} },
    streamRoutes: { match: {} },
    groups: { routeIds: [] },
  };
  const { value: _, ...rest } = body(kind, name, more);
  return { id, ...visible[kind], ...rest };
};

export { editableKinds };
