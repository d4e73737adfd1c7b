// Facts beside the configuration that a control plane tells this proxy (fleet.md §3): drained endpoints, keys of signed
// session cookies. They last until the stream says otherwise, or the process ends: a proxy without a control plane keeps
// what it heard last.
import { type CookieKeys, isCookieKey, noCookieKeys } from '../model/cookie-keys.ts';
import { type DrainedEndpoint, type Drains, noDrains } from '../model/drained-endpoint.ts';
import { isObject } from '../model/json-object.ts';
import { jsonOf } from '../util/malformed-json.ts';
import { Topic } from '../util/topic.ts';

type Indexed = { readonly index: number };

export class RemoteFact<T extends Indexed> {
  readonly topic: Topic<T>;
  readonly #none: T;
  readonly #read: (value: Record<string, unknown> & Indexed) => T | undefined;
  #clusterId = '';

  /** @param read returns undefined for an event that cannot be used. */
  constructor(none: T, read: (value: Record<string, unknown> & Indexed) => T | undefined) {
    this.#none = none;
    this.#read = read;
    this.topic = new Topic(none);
  }

  /** A stream of that cluster is open. What another cluster has told is over. */
  opened(clusterId: string): void {
    const isOther = this.#clusterId !== '' && this.#clusterId !== clusterId;
    this.#clusterId = clusterId;
    if (isOther && this.topic.current.index > 0) this.topic.publish(this.#none);
  }

  /** Takes an event; one of a node that lags behind, and one that cannot be read, changes nothing. */
  onEvent(data: string): void {
    const value = parsed(data);
    const fact = value && this.#read(value);
    if (fact !== undefined && fact.index >= this.topic.current.index) this.topic.publish(fact);
  }
}

export const remoteDrains = (): RemoteFact<Drains> =>
  new RemoteFact<Drains>(noDrains, ({ index, endpoints }) =>
    Array.isArray(endpoints) ? { index, endpoints: endpoints.filter(isDrained) } : undefined,
  );

export const remoteCookieKeys = (): RemoteFact<CookieKeys> => new RemoteFact<CookieKeys>(noCookieKeys, cookieKeysOf);

/** Returns undefined where it is none: of an incomplete ring another key would seal than elsewhere. */
export function cookieKeysOf(value: unknown): CookieKeys | undefined {
  if (!isObject(value) || typeof value.index !== 'number' || !Array.isArray(value.keys)) return undefined;
  const keys = value.keys.flatMap((each: unknown) =>
    isObject(each) && isCookieKey(each.key) && typeof each.madeAt === 'number'
      ? [{ key: each.key, madeAt: each.madeAt }]
      : [],
  );
  return keys.length === value.keys.length ? { index: value.index, keys } : undefined;
}

function parsed(data: string): (Record<string, unknown> & Indexed) | undefined {
  const value = jsonOf(data);
  return isObject(value) && typeof value.index === 'number' ? { ...value, index: value.index } : undefined;
}

const isDrained = (value: unknown): value is DrainedEndpoint =>
  isObject(value) && typeof value.destinationId === 'string' && typeof value.endpoint === 'string';
