// Table in which no rule finds anything.
import type { Configuration } from '../../src/model/proxy-config.ts';

export const forwardToShop = { destinations: [{ destinationId: 'shop' }] };

/** A route that forwards, or does what `more` says. */
export const routeTo = (id: string, match: object, more: object = { forward: forwardToShop }) => ({
  ...{ id, name: id, match },
  ...more,
});

/** A table without a fault, and what a test puts in. */
export function faultlessTable(more: object): Configuration {
  const { routes = [], destinations = [], ...rest } = more as Partial<Record<string, object[]>>;
  const base = {
    listeners: [{ id: 'web', name: 'web', address: '127.0.0.1', port: 8080 }],
    groups: [],
    middlewares: [],
    destinations: [{ id: 'shop', name: 'shop', host: 'shop.internal', port: 80 }, ...destinations],
    routes: [{ id: 'base', name: 'base', match: { path: '/base' }, forward: forwardToShop }, ...routes],
    ...rest,
  };
  for (const list of Object.values(base) as { id: string }[][]) list.sort((a, b) => (a.id < b.id ? -1 : 1));
  return base as unknown as Configuration;
}
