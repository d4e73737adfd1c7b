// The class of every kind that a configuration is made of. What the rest of the program knows of a kind by name, it knows
// from here and from kinds.ts.
import { Consumer } from './consumer.ts';
import { Destination } from './destination.ts';
import { Group } from './group.ts';
import type { ConfigKind } from './kinds.ts';
import { Listener } from './listener.ts';
import { Middleware } from './middleware.ts';
import { Route } from './route.ts';
import type { Class } from './schema.ts';
import { StreamRoute } from './stream-route.ts';

export const configClasses = {
  listeners: Listener,
  destinations: Destination,
  routes: Route,
  groups: Group,
  middlewares: Middleware,
  streamRoutes: StreamRoute,
  consumers: Consumer,
} as const satisfies Readonly<Record<ConfigKind, Class>>;
