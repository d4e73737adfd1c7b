// Credential by which a recorded request would name its consumer. Records hold none: where the consumers of one
// configuration are others, such a request is undecided.
import { basicAuthDefaults } from '../../model/defaults.ts';
import type { Middleware } from '../../model/middleware.ts';
import { type CredentialKind, consumerFinders } from '../consumers/consumer-finders.ts';
import type { RankedEntry } from '../match/route-entry.ts';
import type { ReplayedRequest } from './replayed-request.ts';

interface CredentialPlace {
  readonly of: CredentialKind;
  /** As it is told: `header x-api-key`. */
  readonly text: string;
  /** Undefined: it is not known. */
  readonly isIn: (request: ReplayedRequest) => boolean | undefined;
}

const known = new WeakMap<RankedEntry, readonly CredentialPlace[]>();

/**
 * Returns the place of a credential of these kinds that decides about the request, or about what it is sent with;
 * undefined: no middleware of the entry looks for one, or the request certainly has none.
 */
export function consumerNeed(
  entry: RankedEntry,
  changed: ReadonlySet<CredentialKind>,
  request: ReplayedRequest,
): string | undefined {
  if (changed.size === 0) return undefined;
  const places = known.get(entry) ?? placesOf(entry);
  known.set(entry, places);
  return places.find(({ of, isIn }) => changed.has(of) && isIn(request) !== false)?.text;
}

function placesOf({ chain, route }: RankedEntry): readonly CredentialPlace[] {
  const links = chain.filter(({ disabled, middleware }) => !disabled && middleware?.type !== 'accessLog');
  const read = [links.map(({ middleware, override }) => [middleware, override]), route.forward];
  const readsConsumer = /\bconsumer\b/.test(JSON.stringify(read));
  return links.flatMap(({ middleware }) => {
    const of = consumerFinders.get(middleware?.type ?? '');
    if (middleware === undefined || of === undefined || !(readsConsumer || admitsConsumers(middleware))) return [];
    return fieldsOf(middleware).map((place) => ({ of, ...place }));
  });
}

/** Returns whether the consumers decide who passes. */
const admitsConsumers = ({ type, basicAuth }: Middleware): boolean =>
  type === 'apiKey' || (type === 'basicAuth' && (basicAuth?.consumers ?? basicAuthDefaults.consumers));

function fieldsOf({ type, apiKey }: Middleware): readonly Omit<CredentialPlace, 'of'>[] {
  if (type !== 'apiKey') return [field('authorization')];
  const { header, query, cookie } = apiKey?.sources ?? {};
  return [
    ...(header === undefined ? [] : [field(header.toLowerCase())]),
    ...(query === undefined
      ? []
      : [{ text: `query ${query}`, isIn: (request: ReplayedRequest) => request.hasParameter(query) }]),
    ...(cookie === undefined ? [] : [field('cookie')]),
  ];
}

const field = (name: string): Omit<CredentialPlace, 'of'> => ({
  text: `header ${name}`,
  isIn: (request) => request.hasField(name),
});
