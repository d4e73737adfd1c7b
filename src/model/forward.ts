// The forward action: send the request to one of several destinations (contract.md §2.4.2).
import { DestinationPinCookie } from './cookie.ts';
import { routeDefaults } from './defaults.ts';
import { Duration, ListOf, Nested, OneOf, Reference, Uint } from './field.ts';
import { Retry } from './retry.ts';
import { Rewrite } from './rewrite.ts';
import { problemIf, Rules } from './rule.ts';

const destinationAlgorithms = ['WEIGHTED_RANDOM', 'WEIGHTED_CONSISTENT_HASH', 'STICKY'] as const;

type Algorithm = (typeof destinationAlgorithms)[number];

export class WeightedDestination {
  @Reference('Id of the destination. It may be listed more than once.', { required: true, example: 'catalog' })
  readonly destinationId!: string;

  @Uint('Share of the requests, in proportion to the weights of all entries. Ignored when there is one entry.', {
    max: 1_000_000,
    default: routeDefaults.weight,
  })
  readonly weight?: number;
}

export class DestinationPin {
  @Nested(DestinationPinCookie, 'Cookie that ties a client to its destination.')
  readonly cookie?: DestinationPinCookie;
}

export class DestinationBalancing {
  @OneOf(destinationAlgorithms, 'How a destination is picked when there are several.', {
    default: routeDefaults.destinationBalancing.algorithm,
  })
  readonly algorithm?: Algorithm;

  @Nested(DestinationPin, 'Settings of WEIGHTED_CONSISTENT_HASH.', { when: { algorithm: 'WEIGHTED_CONSISTENT_HASH' } })
  readonly weightedConsistentHash?: DestinationPin;

  @Nested(DestinationPin, 'Settings of STICKY.', { when: { algorithm: 'STICKY' } })
  readonly sticky?: DestinationPin;
}

export class ForwardTimeouts {
  @Duration('Budget of the whole exchange, retries included. Absent or 0: none.')
  readonly request?: string;
}

export class Mirror {
  @Reference('Id of the destination that gets a copy; its answers are dropped.', { required: true })
  readonly destinationId!: string;

  @Uint('Share of the requests that is copied, in percent. 0: none.', {
    max: 100,
    default: routeDefaults.mirrorPercentage,
  })
  readonly percentage?: number;
}

@Rules<Forward>({
  someWeight: ({ destinations = [] }) =>
    problemIf(
      destinations.length > 1 && destinations.every(({ weight = routeDefaults.weight }) => weight === 0),
      '/destinations',
      'must have a weight above 0',
    ),
})
export class Forward {
  @ListOf(WeightedDestination, 'Where requests go. Of several entries one at least has a weight above 0.', {
    required: true,
    lengthMin: 1,
  })
  readonly destinations!: readonly WeightedDestination[];

  @Nested(DestinationBalancing, 'How one of several destinations is picked.')
  readonly destinationBalancing?: DestinationBalancing;

  @Nested(ForwardTimeouts, 'Limits of this route.')
  readonly timeouts?: ForwardTimeouts;

  @Nested(Retry, 'Another try after a failure. Absent: the default of the group, if any.')
  readonly retry?: Retry;

  @Nested(Rewrite, 'Changes to path and host on the way.')
  readonly rewrite?: Rewrite;

  @Nested(Mirror, 'A copy of the requests for another destination.')
  readonly mirror?: Mirror;

  @Duration('Cap on the `grpc-timeout` of requests. Absent or 0: none.')
  readonly maxGrpcTimeout?: string;
}
