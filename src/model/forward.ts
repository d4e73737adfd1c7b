// The forward action: send the request to one of several destinations (contract.md §2.4.2).
import { atMostOneOf, exactlyOneOf, has } from './constraint.ts';
import { DestinationPinCookie, StickyDestinationCookie } from './cookie.ts';
import { routeDefaults } from './defaults.ts';
import { DirectResponse } from './direct-response.ts';
import { Duration, Flag, ListOf, Nested, OneOf, Reference, Uint } from './field.ts';
import { HeadersConfig } from './middleware/headers-options.ts';
import { Mirror } from './mirror.ts';
import { Retry } from './retry.ts';
import { Rewrite } from './rewrite.ts';
import { problemIf, Rules } from './rule.ts';

const destinationAlgorithms = ['WEIGHTED_RANDOM', 'WEIGHTED_CONSISTENT_HASH', 'STICKY'] as const;

type Algorithm = (typeof destinationAlgorithms)[number];

const edits = ['headers', 'rewrite'] as const;

@Rules<WeightedDestination>(
  {
    eitherDestinationOrAnswer: ({ destinationId, directResponse }) =>
      destinationId === undefined
        ? problemIf(directResponse === undefined, '/destinationId', 'is required where there is no directResponse')
        : problemIf(directResponse !== undefined, '/directResponse', 'must not stand beside destinationId'),
    answerHasNoEdits: (entry) => {
      const present = edits.filter((name) => entry[name] !== undefined);
      const isAnswer = entry.destinationId === undefined && entry.directResponse !== undefined;
      return problemIf(isAnswer && present.length > 0, `/${present[0]}`, 'must not stand beside directResponse');
    },
  },
  exactlyOneOf(has('destinationId'), has('directResponse')),
  atMostOneOf(has('directResponse'), has('headers')),
  atMostOneOf(has('directResponse'), has('rewrite')),
)
export class WeightedDestination {
  @Reference('Id of the destination. It may be listed more than once.', { example: 'catalog' })
  readonly destinationId?: string;

  @Nested(DirectResponse, 'Fixed answer of this share, in place of a destination.')
  readonly directResponse?: DirectResponse;

  @Uint('Share of the requests, in proportion to the weights of all entries. Ignored when there is one entry.', {
    max: 1_000_000,
    default: routeDefaults.weight,
  })
  readonly weight?: number;

  @Nested(HeadersConfig, 'Changes to the fields of this share, after those of the route.')
  readonly headers?: HeadersConfig;

  @Nested(
    Rewrite,
    'Changes to path and host of this share. What it says of the path, or of the host, replaces what the route says.',
  )
  readonly rewrite?: Rewrite;
}

export class DestinationPin {
  @Nested(DestinationPinCookie, 'Cookie that ties a client to its destination.')
  readonly cookie?: DestinationPinCookie;
}

export class DestinationSticky {
  @Nested(StickyDestinationCookie, 'Cookie that carries the session id, or the placement.')
  readonly cookie?: StickyDestinationCookie;
}

export class DestinationBalancing {
  @OneOf(destinationAlgorithms, 'How a destination is picked when there are several.', {
    default: routeDefaults.destinationBalancing.algorithm,
  })
  readonly algorithm?: Algorithm;

  @Nested(DestinationPin, 'Settings of WEIGHTED_CONSISTENT_HASH.', { when: { algorithm: 'WEIGHTED_CONSISTENT_HASH' } })
  readonly weightedConsistentHash?: DestinationPin;

  @Nested(DestinationSticky, 'Settings of STICKY.', { when: { algorithm: 'STICKY' } })
  readonly sticky?: DestinationSticky;
}

export class ForwardTimeouts {
  @Duration('Budget of the whole exchange, retries included. Absent: that of the destination. 0: none.')
  readonly request?: string;

  @Duration('Limit on each try, from its start to the end of the response. Absent or 0: none.')
  readonly perAttempt?: string;
}

const mirrorsMax = 16;

@Rules<Forward>(
  {
    someWeight: ({ destinations = [] }) =>
      problemIf(
        destinations.length > 1 && destinations.every(({ weight = routeDefaults.weight }) => weight === 0),
        '/destinations',
        'must have a weight above 0',
      ),
    oneFormOfMirrors: ({ mirror, mirrors }) =>
      problemIf(mirror !== undefined && mirrors !== undefined, '/mirrors', 'must not stand beside mirror'),
  },
  atMostOneOf(has('mirror'), has('mirrors')),
)
export class Forward {
  @ListOf(WeightedDestination, 'Where requests go. Of several entries one at least has a weight above 0.', {
    required: true,
    lengthMin: 1,
  })
  readonly destinations!: readonly WeightedDestination[];

  @Flag(
    'true: only destinations with an available endpoint take part. false: every entry keeps its share, and that of an unavailable destination is answered 503.',
    { default: routeDefaults.failover },
  )
  readonly failover?: boolean;

  @Nested(DestinationBalancing, 'How one of several destinations is picked.', { absentIsEmpty: true })
  readonly destinationBalancing?: DestinationBalancing;

  @Nested(ForwardTimeouts, 'Limits of this route.', { absentIsEmpty: true })
  readonly timeouts?: ForwardTimeouts;

  @Nested(Retry, 'Another try after a failure. Absent: the default of the group, if any.')
  readonly retry?: Retry;

  @Nested(Rewrite, 'Changes to path and host on the way.')
  readonly rewrite?: Rewrite;

  @Nested(
    HeadersConfig,
    'Changes to the fields of the request after all middlewares, and of the response of the upstream before them.',
  )
  readonly headers?: HeadersConfig;

  @Nested(Mirror, 'A copy of the requests for another destination.')
  readonly mirror?: Mirror;

  @ListOf(Mirror, 'Copies of the requests for several destinations, in place of `mirror`.', { lengthMax: mirrorsMax })
  readonly mirrors?: readonly Mirror[];

  @Duration('Cap on the `grpc-timeout` of requests. Absent or 0: none.')
  readonly maxGrpcTimeout?: string;
}
