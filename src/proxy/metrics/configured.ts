// Subjects of label sets, and which of them are configured. A subject is the labels that name a thing, without those
// that describe a result: `route="r",group=""`.
import { perKind } from '../../model/kinds.ts';
import { editsBetween } from '../../model/list-edits.ts';
import { mirrorsOf } from '../../model/mirrors-of.ts';
import { type Configuration, listOf } from '../../model/proxy-config.ts';
import type { Route } from '../../model/route.ts';
import { pairChanges, pairsOf, type RoutePair, routesById } from '../../model/route-pairs.ts';
import { labelsText } from './families.ts';

/** Subject of the listener itself: valid as long as the listener counts. */
export const ownSubject = '';

export const routeSubject = (route: string, group: string): string =>
  labelsText([
    ['route', route],
    ['group', group],
  ]);

export const streamSubject = (route: string): string => labelsText([['stream_route', route]]);

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

export const consumerSubject = (name: string): string => labelsText([['consumer', name]]);

/** Subjects of configurations, all but the endpoints, which come and go without an activation. */
export class ConfiguredSubjects {
  /** Number of times that each subject is configured. */
  readonly #counts = new Map<string, number>();
  #followed: readonly Configuration[] = [];

  has(subject: string): boolean {
    return subject === ownSubject || this.#counts.has(subject);
  }

  /** Takes up the configurations in force. In steps, to be run to the end; the cost grows with the changes alone. */
  *follow(configurations: readonly Configuration[]): Generator<void> {
    const former = this.#followed;
    this.#followed = configurations;
    for (let at = 0; at < Math.max(former.length, configurations.length); at++) {
      yield* this.#change(former[at] ?? nothing, configurations[at] ?? nothing);
    }
  }

  *#change(former: Configuration, next: Configuration): Generator<void> {
    if (former === next) return;
    for (const { removed, inserted } of yield* editsBetween(former.routes, next.routes)) {
      yield* this.#countMirrors(removed, -1);
      yield* this.#countMirrors(inserted, 1);
    }
    for (const { removed, inserted } of yield* editsBetween(former.destinations, next.destinations)) {
      for (const { id } of removed) this.#count(destinationSubject(id), -1);
      for (const { id } of inserted) this.#count(destinationSubject(id), 1);
    }
    for (const { removed, inserted } of yield* editsBetween(former.middlewares, next.middlewares)) {
      for (const { name, type } of removed) this.#count(middlewareSubject(name, type), -1);
      for (const { name, type } of inserted) this.#count(middlewareSubject(name, type), 1);
    }
    const consumers = [listOf(former, 'consumers'), listOf(next, 'consumers')] as const;
    for (const { removed, inserted } of yield* editsBetween(...consumers)) {
      for (const { name } of removed) this.#count(consumerSubject(name), -1);
      for (const { name } of inserted) this.#count(consumerSubject(name), 1);
    }
    const streams = [listOf(former, 'streamRoutes'), listOf(next, 'streamRoutes')] as const;
    for (const { removed, inserted } of yield* editsBetween(...streams)) {
      for (const { name } of removed) this.#count(streamSubject(name), -1);
      for (const { name } of inserted) this.#count(streamSubject(name), 1);
    }
    const changes = yield* pairChanges(former, next);
    yield* this.#countPairs(changes?.removed ?? (yield* allPairs(former)), -1);
    yield* this.#countPairs(changes?.added ?? (yield* allPairs(next)), 1);
  }

  *#countMirrors(routes: readonly Route[], by: 1 | -1): Generator<void> {
    for (const [at, route] of routes.entries()) {
      for (const subject of mirrorSubjects(route)) this.#count(subject, by);
      if (at % 256 === 0) yield;
    }
  }

  *#countPairs(pairs: Iterable<RoutePair>, by: 1 | -1): Generator<void> {
    let done = 0;
    for (const { route, group } of pairs) {
      this.#count(routeSubject(route.name, group?.name ?? ''), by);
      if (++done % 64 === 0) yield;
    }
  }

  #count(subject: string, by: 1 | -1): void {
    const count = (this.#counts.get(subject) ?? 0) + by;
    if (count === 0) this.#counts.delete(subject);
    else this.#counts.set(subject, count);
  }
}

const nothing: Configuration = perKind(() => []);

function* allPairs({ groups, routes }: Configuration): Generator<void, Iterable<RoutePair>> {
  return pairsOf(groups, yield* routesById(routes));
}

const none: readonly string[] = [];

const mirrorSubjects = ({ name, forward }: Route): readonly string[] =>
  forward?.mirror === undefined && forward?.mirrors === undefined
    ? none
    : mirrorsOf(forward).map(({ destinationId }) => mirrorSubject(name, destinationId));
