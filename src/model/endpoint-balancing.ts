// Balancing of requests over the endpoints of a destination (contract.md §2.3.3, §7.6). Only the block of the selected
// algorithm counts; the others are kept as they are.
import { exactlyOneOf, has } from './constraint.ts';
import { EndpointPinCookie, StickyEndpointCookie } from './cookie.ts';
import { destinationDefaults } from './defaults.ts';
import { Flag, ListOf, Nested, OneOf, Token, Uint } from './field.ts';
import { problemIf, Rules } from './rule.ts';

const endpointAlgorithms = ['ROUND_ROBIN', 'LEAST_REQUEST', 'RING_HASH', 'MAGLEV', 'RANDOM', 'STICKY'] as const;

const { algorithm, ringSize, tableSize, choiceCount, sourceIP } = destinationDefaults.endpointBalancing;
const tableSizeMax = 5_000_011;
const hashPolicyMessage = 'Where the hash key comes from; the first policy that yields a value wins.';

export class HeaderHash {
  @Token('Header whose first value is the key.', { required: true, example: 'x-user' })
  readonly name!: string;
}

export class SourceIpHash {
  @Flag('Take the TCP peer as the key. False skips the policy.', { default: sourceIP.enabled })
  readonly enabled?: boolean;
}

@Rules<HashPolicy>(
  {
    exactlyOneSource: ({ header, cookie, sourceIP }) =>
      problemIf(
        [header, cookie, sourceIP].filter((source) => source !== undefined).length !== 1,
        '',
        'must have exactly one of header, cookie, sourceIP',
      ),
  },
  exactlyOneOf(has('header'), has('cookie'), has('sourceIP')),
)
export class HashPolicy {
  @Nested(HeaderHash, 'Hash by a request header.')
  readonly header?: HeaderHash;

  @Nested(EndpointPinCookie, 'Hash by a cookie, which is set when absent.')
  readonly cookie?: EndpointPinCookie;

  @Nested(SourceIpHash, 'Hash by the address of the TCP peer.')
  readonly sourceIP?: SourceIpHash;
}

@Rules<RingSize>({
  minUpToMax: ({ min = ringSize.min, max = ringSize.max }) =>
    problemIf(min > max, '/min', `must not be above max, ${max}`),
})
export class RingSize {
  // The ring is built with `min` nodes, so an open bound would let one resource exhaust every proxy.
  @Uint('Nodes of the ring, spread over the endpoints.', { min: 1, max: ringSize.max, default: ringSize.min })
  readonly min?: number;

  @Uint('Upper bound on the nodes of the ring.', { min: 1, default: ringSize.max })
  readonly max?: number;
}

export class RingHash {
  @Nested(RingSize, 'Size of the ring.')
  readonly ringSize?: RingSize;

  @ListOf(HashPolicy, hashPolicyMessage, { default: [] })
  readonly hashPolicy?: readonly HashPolicy[];
}

@Rules<Maglev>({
  tableSizeIsPrime: ({ tableSize: size = tableSize }) => problemIf(!isPrime(size), '/tableSize', 'must be a prime'),
})
export class Maglev {
  @Uint('Slots of the lookup table, a prime.', { min: 3, max: tableSizeMax, default: tableSize })
  readonly tableSize?: number;

  @ListOf(HashPolicy, hashPolicyMessage, { default: [] })
  readonly hashPolicy?: readonly HashPolicy[];
}

export class LeastRequest {
  @Uint('Endpoints drawn per request; the one with the fewest requests in flight wins.', {
    min: 1,
    default: choiceCount,
  })
  readonly choiceCount?: number;
}

export class EndpointSticky {
  @Nested(StickyEndpointCookie, 'Cookie that carries the session id, or the placement.')
  readonly cookie?: StickyEndpointCookie;
}

export type EndpointAlgorithm = (typeof endpointAlgorithms)[number];

export class EndpointBalancing {
  @OneOf(endpointAlgorithms, 'How an endpoint is picked.', { default: algorithm })
  readonly algorithm?: EndpointAlgorithm;

  @Nested(RingHash, 'Settings of RING_HASH.', { when: { algorithm: 'RING_HASH' } })
  readonly ringHash?: RingHash;

  @Nested(Maglev, 'Settings of MAGLEV.', { when: { algorithm: 'MAGLEV' } })
  readonly maglev?: Maglev;

  @Nested(LeastRequest, 'Settings of LEAST_REQUEST.', { when: { algorithm: 'LEAST_REQUEST' } })
  readonly leastRequest?: LeastRequest;

  @Nested(EndpointSticky, 'Settings of STICKY.', { when: { algorithm: 'STICKY' } })
  readonly sticky?: EndpointSticky;
}

// Table sizes are bounded, so trial division takes about a thousand steps at most. Larger ones are the bound's to refuse.
const isPrime = (value: number): boolean => {
  if (value > tableSizeMax || value === 2) return true;
  if (value < 2 || value % 2 === 0) return false;
  for (let divisor = 3; divisor * divisor <= value; divisor += 2) if (value % divisor === 0) return false;
  return true;
};
