// Selection of the clients that a candidate serves (fleet.md §7): the hash of a seed and of the client's key, compared
// with the share of this moment. A client that has the candidate keeps it while the share grows.
import type { RequestFacts } from '../../expression/cel/value-view.ts';
import type { Candidate } from '../../model/proxy-config.ts';
import { bucketOf } from '../../model/rollout-bucket.ts';
import type { ShareCell } from '../shared/share-cell.ts';
import { cookieIn } from '../upstream/session/session-cookie.ts';

/** Clients of which the place is remembered; a client costs a hash when it is not. */
const rememberedMax = 16_384;

type Source = Pick<RequestFacts, 'header' | 'clientIp'>;

export class ClientShare {
  readonly #seed: string;
  readonly #valueOf: (request: Source) => string | undefined;
  readonly #share: Pick<ShareCell, 'fraction'>;
  readonly #places = new Map<string, number>();

  constructor(seed: string, key: Candidate['key'], share: Pick<ShareCell, 'fraction'>) {
    this.#seed = seed;
    this.#valueOf = reading(key);
    this.#share = share;
  }

  has(request: Source): boolean {
    const share = this.#share.fraction;
    if (share <= 0) return false;
    return share >= 1 || this.#placeOf(this.#valueOf(request) || request.clientIp) < share;
  }

  #placeOf(value: string): number {
    const known = this.#places.get(value);
    if (known !== undefined) return known;
    if (this.#places.size >= rememberedMax) this.#places.clear();
    const place = bucketOf(this.#seed, value);
    this.#places.set(value, place);
    return place;
  }
}

function reading(key: Candidate['key']): (request: Source) => string | undefined {
  if ('header' in key) {
    const name = key.header.toLowerCase();
    return (request) => request.header(name);
  }
  if ('cookie' in key) {
    const name = key.cookie;
    return (request) => {
      const line = request.header('cookie');
      return line === undefined ? undefined : cookieIn(line, name);
    };
  }
  return () => undefined;
}
