// Middlewares of a route: those of its groups, then its own, each once.
import type { Configuration } from '../model/proxy-config.ts';

export interface ChainLink {
  readonly id: string;
  readonly type: string;
}

type Source = Pick<Configuration, 'routes' | 'groups' | 'middlewares'>;

export function chainOfRoute({ routes, groups, middlewares }: Source, routeId: string): readonly ChainLink[] {
  const route = routes.find(({ id }) => id === routeId);
  if (route === undefined) return [];
  const inherited = groups
    .filter(({ routeIds = [] }) => routeIds.includes(routeId))
    .flatMap(({ middlewareIds = [] }) => middlewareIds);
  const ids = new Set([...inherited, ...(route.middlewareIds ?? [])]);
  const byId = new Map(middlewares.filter(({ id }) => ids.has(id)).map((each) => [each.id, each]));
  return [...ids].flatMap((id) => {
    const middleware = byId.get(id);
    return middleware === undefined ? [] : [{ id, type: middleware.type }];
  });
}
