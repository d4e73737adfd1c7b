// Difference between two entries of one route, for the requests that it serves before and after a change.

import { isDeepStrictEqual } from 'node:util';
import { type ChangedPart, changedParts } from '../../model/answers/diff-answers.ts';
import type { Destination } from '../../model/destination.ts';
import type { Middleware } from '../../model/middleware.ts';
import { mirrorsOf } from '../../model/mirrors-of.ts';
import type { ChainLink, RankedEntry } from '../match/route-entry.ts';

export type Destinations = Pick<ReadonlyMap<string, Destination>, 'get'>;

type Parts = Readonly<Record<ChangedPart, unknown>>;

/** Names the parts in which the entries differ. */
export function changesOf(
  from: RankedEntry,
  to: RankedEntry,
  before: Destinations,
  after: Destinations,
): readonly ChangedPart[] {
  if (from === to && sendsAlike(from, before, after)) return none;
  const [a, b] = [partsOf(from, before), partsOf(to, after)];
  return changedParts.filter((part) => !isDeepStrictEqual(a[part], b[part]));
}

const none: readonly ChangedPart[] = [];

/** Returns whether the destinations of an entry, and of its middlewares, are the same objects in both. */
const sendsAlike = (entry: RankedEntry, before: Destinations, after: Destinations): boolean =>
  [...destinationIds(entry), ...entry.chain.flatMap(serviceIds)].every((id) => before.get(id) === after.get(id));

/** Ids of the destinations that a middleware asks. */
const serviceIds = ({ disabled, middleware }: ChainLink): readonly string[] =>
  disabled || middleware === undefined
    ? []
    : [
        middleware.extAuthz?.destinationId,
        middleware.extProc?.destinationId,
        middleware.jwt?.jwksDestinationId,
      ].flatMap((id) => id ?? []);

const destinationIds = ({ route: { forward } }: RankedEntry): readonly string[] =>
  forward === undefined
    ? []
    : [...forward.destinations, ...mirrorsOf(forward)].flatMap(({ destinationId }) => destinationId ?? []);

function partsOf(entry: RankedEntry, destinations: Destinations): Parts {
  const { route, chain, path, closed } = entry;
  const { forward, redirect, directResponse, errorPages, maxRequestBodyBytes } = route;
  const { timeouts, retry, maxGrpcTimeout, rewrite, headers, ...rest } = forward ?? { destinations: [] };
  const used = [...new Set(destinationIds(entry))].map((id) => destinations.get(id));
  const shares = rest.destinations.map(({ rewrite: _, headers: __, ...share }) => share);
  const edits = rest.destinations.flatMap(({ destinationId, rewrite: own, headers: fields }) =>
    own === undefined && fields === undefined ? [] : [[destinationId, own, fields]],
  );
  const isEdited = [rewrite, ...rest.destinations.map((share) => share.rewrite)].some((each) => each !== undefined);
  return {
    middlewares: chain.map((link) => [
      link.id,
      withoutNames(link.middleware),
      link.override,
      link.disabled,
      serviceIds(link).map((id) => withoutNames(destinations.get(id))),
    ]),
    destinations: [{ ...rest, destinations: shares }, used.map(withoutTimeouts)],
    rewrite: [rewrite, headers, edits, isEdited ? path.text : ''],
    timeouts: [timeouts, retry, maxGrpcTimeout, used.map((each) => each?.options?.timeouts)],
    answer: [redirect, redirect && path.text, directResponse, errorPages, maxRequestBodyBytes, closed],
  };
}

function withoutTimeouts(destination: Destination | undefined): unknown {
  if (destination === undefined) return undefined;
  const { options, ...rest } = destination;
  const { timeouts: _, ...others } = options ?? {};
  return [withoutNames(rest), others];
}

/** Fields that are there for people alone change no request. */
function withoutNames<T extends Partial<Destination | Middleware>>(entity: T | undefined): unknown {
  if (entity === undefined) return undefined;
  const { name: _, owner: __, labels: ___, ...rest } = entity;
  return rest;
}
