// What label sets are about, and which of it is configured. A subject is the labels that name a thing, without those that
// say what became of it: `route="r",group=""`.
import type { Configuration } from '../../model/proxy-config.ts';
import { labelsText } from './families.ts';

/** Of the listener itself: as long as it is counted on. */
export const ownSubject = '';

export const routeSubject = (route: string, group: string): string =>
  labelsText([
    ['route', route],
    ['group', group],
  ]);

export const destinationSubject = (id: string): string => labelsText([['destination', id]]);

export const endpointSubject = (destination: string, endpoint: string): string =>
  labelsText([
    ['destination', destination],
    ['endpoint', endpoint],
  ]);

export const mirrorSubject = (route: string, destination: string): string =>
  labelsText([
    ['route', route],
    ['destination', destination],
  ]);

export const middlewareSubject = (name: string, type: string): string =>
  labelsText([
    ['middleware', name],
    ['type', type],
  ]);

/** All but the endpoints, which come and go without an activation. */
export function configuredSubjects(configurations: readonly Configuration[]): Set<string> {
  const subjects = new Set<string>([ownSubject]);
  for (const { routes, groups, destinations, middlewares } of configurations) {
    const grouped = new Set<string>();
    const names = new Map(routes.map(({ id, name }) => [id, name]));
    for (const { name, routeIds = [] } of groups) {
      for (const id of routeIds) {
        grouped.add(id);
        subjects.add(routeSubject(names.get(id) ?? '', name));
      }
    }
    for (const { id, name, forward } of routes) {
      if (!grouped.has(id)) subjects.add(routeSubject(name, ''));
      const mirror = forward?.mirror?.destinationId;
      if (mirror !== undefined) subjects.add(mirrorSubject(name, mirror));
    }
    for (const { id } of destinations) subjects.add(destinationSubject(id));
    for (const { name, type } of middlewares) subjects.add(middlewareSubject(name, type));
  }
  return subjects;
}
