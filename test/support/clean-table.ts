import type { Configuration } from '../../src/model/proxy-config.ts';

/** A table as a large fleet has it: groups of hosts, exact paths and prefixes, methods, some headers. */
export function cleanTable(count: number): Configuration {
  const routes = Array.from({ length: count }, (_, at) => ({
    id: `r${String(at).padStart(6, '0')}`,
    name: `r${String(at).padStart(6, '0')}`,
    match: {
      ...(at % 4 === 0 ? { path: `/s${at % 100}/i${at}` } : { pathPrefix: `/s${at % 100}/p${at}` }),
      ...(at % 3 === 0 && { hostnames: [`h${at % 1000}.test`] }),
      ...(at % 5 === 0 && { methods: ['GET', 'HEAD'] }),
      ...(at % 7 === 0 && { headers: [{ name: 'x-tenant', value: `t${at}` }] }),
    },
    forward: { destinations: [{ destinationId: `d${at % 50}` }] },
  }));
  const destinations = Array.from({ length: 50 }, (_, at) => ({
    id: `d${at}`,
    name: `d${at}`,
    host: 'a.internal',
    port: 80,
  }));
  destinations.sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    listeners: [{ id: 'web', name: 'web', port: 8080 }],
    groups: [],
    middlewares: [],
    destinations,
    routes,
  } as unknown as Configuration;
}
