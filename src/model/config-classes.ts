// Class of each kind that is edited. What the rest of the program knows of a kind by name, it knows from here and from
// kinds.ts.
import { Consumer } from './consumer.ts';
import { Destination } from './destination.ts';
import { Group } from './group.ts';
import type { ConfigKind, EditableKind } from './kinds.ts';
import { Listener } from './listener.ts';
import { Middleware } from './middleware.ts';
import { Route } from './route.ts';
import type { Class } from './schema.ts';
import { Secret } from './secret.ts';
import { StreamRoute } from './stream-route.ts';

interface EntityClass extends Class {
  /** Description of the kind in the OpenAPI document, where its operations stand together. */
  readonly summary: string;
  /**
   * Body that the API accepts as it stands, for the OpenAPI document: explorers fill it in, and those that they derive from
   * a schema alone have every action at once. Created in the order of the kinds, the bodies make a working proxy.
   */
  readonly example: { readonly id: string };
}

export const configClasses = {
  listeners: Listener,
  destinations: Destination,
  routes: Route,
  groups: Group,
  middlewares: Middleware,
  streamRoutes: StreamRoute,
  consumers: Consumer,
} as const satisfies Readonly<Record<ConfigKind, EntityClass>>;

export const editableClasses = {
  ...configClasses,
  secrets: Secret,
} as const satisfies Readonly<Record<EditableKind, EntityClass>>;
