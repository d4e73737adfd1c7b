// A stream route: which connections of tcp listeners, and where their bytes go (contract.md §2.12).
import { routeDefaults, streamRouteDefaults } from './defaults.ts';
import { Entity } from './entity.ts';
import { Duration, Flag, ListOf, Nested, Reference, Uint } from './field.ts';
import { Closed, problemIf, Rules } from './rule.ts';
import { cidr, listenerReference, reference, serverName } from './scalar.ts';

@Closed()
export class StreamMatch {
  @ListOf(
    listenerReference,
    'Listeners of protocol tcp, or `<listener>/<section>`, whose connections it is for. Empty: all.',
    { distinct: true, example: ['databases'] },
  )
  readonly listenerIds?: readonly string[];

  @ListOf(
    serverName,
    'Server names that the client asks for by TLS: a host name, `*.suffix` for one label before it, or `**.suffix` for one or more. Empty: any, and none.',
    { lengthMax: Number.POSITIVE_INFINITY, example: ['db.example.com'] },
  )
  readonly sni?: readonly string[];

  @ListOf(cidr, 'Addresses of clients. Empty: any.', { example: ['10.0.0.0/8'] })
  readonly clientCidrs?: readonly string[];
}

export class StreamDestination {
  @Reference('Id of the destination. It may be listed more than once.', { required: true, example: 'database' })
  readonly destinationId!: string;

  @Uint('Share of the connections, in proportion to the weights of all entries. Ignored when there is one entry.', {
    max: 1_000_000,
    default: routeDefaults.weight,
  })
  readonly weight?: number;
}

export class StreamTimeouts {
  @Duration('How long a connection may carry nothing in either direction. 0: no limit.', {
    default: streamRouteDefaults.timeouts.idle,
  })
  readonly idle?: string;
}

@Rules<StreamForward>({
  someWeight: ({ destinations = [] }) =>
    problemIf(
      destinations.length > 1 && destinations.every(({ weight = routeDefaults.weight }) => weight === 0),
      '/destinations',
      'must have a weight above 0',
    ),
})
export class StreamForward {
  @ListOf(StreamDestination, 'Where connections go. Of several entries one at least has a weight above 0.', {
    required: true,
    lengthMin: 1,
  })
  readonly destinations!: readonly StreamDestination[];

  @Flag(
    'true: only destinations with an available endpoint take part. false: every entry keeps its share, and connections of an unavailable destination are closed.',
    { default: streamRouteDefaults.failover },
  )
  readonly failover?: boolean;

  @Nested(StreamTimeouts, 'Limits of its connections.', { absentIsEmpty: true })
  readonly timeouts?: StreamTimeouts;
}

export class StreamRoute extends Entity {
  static readonly summary = 'Connections of tcp listeners and where they go.';

  static readonly example = {
    id: 'database',
    name: 'database',
    match: { sni: ['db.example.com'] },
    forward: { destinations: [{ destinationId: 'backend' }], timeouts: { idle: '10m' } },
  };

  @Nested(StreamMatch, 'Which connections. `{}`: all.', { default: {}, emitted: true })
  readonly match?: StreamMatch;

  @Nested(StreamForward, 'Where the bytes of these connections go.', { required: true })
  readonly forward!: StreamForward;

  @ListOf(reference, 'Ids of middlewares of type accessLog, outermost first.', { default: [], distinct: true })
  readonly middlewareIds?: readonly string[];
}
