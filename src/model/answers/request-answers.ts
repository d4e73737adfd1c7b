// Recent requests, and mirrored ones that were answered otherwise. Nothing that could be a credential is kept: of the query
// and of the header fields only the values that the settings name.
import { amount, count, integer, limited, list, map, nullable, object, oneOf, text, time } from '../json-type.ts';
import { Component, Optional, Required } from '../property.ts';

const oneIn = limited(integer, { minimum: 1 });
export const protocolNames = ['HTTP/1.0', 'HTTP/1.1', 'HTTP/2.0'] as const;

@Component()
export class RecentRequest {
  @Required(time, 'When its head was whole.')
  readonly time!: string;

  @Required(text, 'As sent; empty, as host and path are, for what could not be read.')
  readonly method!: string;

  @Required(oneOf(['http', 'https']), 'How it came.')
  readonly scheme!: 'http' | 'https';

  @Required(text, 'Without port.')
  readonly host!: string;

  @Required(text, 'Canonical, without the query.')
  readonly path!: string;

  @Required(list(text), 'Names of the query parameters that have a value, as sent.')
  readonly params!: readonly string[];

  @Required(
    map(text),
    'First values of the query parameters that the settings list, decoded. No other values are kept.',
  )
  readonly query!: Readonly<Record<string, string>>;

  /** By their names in lower case. */
  @Required(map(text), 'First values of the headers that the settings list; credentials are `[redacted]` all the same.')
  readonly headers!: Readonly<Record<string, string>>;

  @Required(oneOf(protocolNames), 'Between client and proxy.')
  readonly protocol!: (typeof protocolNames)[number];

  @Required(count, '499 for a client that was gone before its answer began.')
  readonly status!: number;

  @Required(text, 'Name of the listener that it came in on; empty for what could not be read.')
  readonly listener!: string;

  @Required(text, 'Its id.')
  readonly listenerId!: string;

  @Required(text, 'Name of the section of its host; empty where the listener has none, or none for the host.')
  readonly section!: string;

  @Required(text, 'Name of the route that won it; empty when none did.')
  readonly route!: string;

  @Required(text, 'Its id.')
  readonly routeId!: string;

  @Required(text, 'Name of its group; empty without one.')
  readonly group!: string;

  @Required(text, 'Id; empty when it went nowhere.')
  readonly destination!: string;

  @Required(text, '`host:port` of the last try.')
  readonly endpoint!: string;

  @Required(count, 'Tries.')
  readonly attempts!: number;

  @Required(
    amount,
    'From the head to the end of the response: the sum of the four phases that follow, which a proxy of an earlier version does not tell.',
  )
  readonly durationMs!: number;

  @Optional(amount, 'Before the last try: middlewares, choices, earlier tries. Without a try all of it.')
  readonly proxyMs?: number;

  @Optional(amount, 'Until the last try had a connection: queued, or connecting.')
  readonly connectMs?: number;

  @Optional(amount, 'From then to the head of the response.')
  readonly firstByteMs?: number;

  @Optional(amount, 'From there to the end of the response.')
  readonly transferMs?: number;

  @Required(count, 'Log index of the configuration that served it.')
  readonly snapshotIndex!: number;

  @Required(oneOf(['stable', 'candidate']), 'Whose configuration that is.')
  readonly role!: 'stable' | 'candidate';

  @Required(text, 'Type of the proxy error that answered it; empty when none did.')
  readonly error!: string;

  @Required(oneIn, 'It stands for so many like it.')
  readonly oneIn!: number;
}

/** Share of the traffic that the list holds. */
export class RecentCounts {
  @Required(count, 'Requests that have ended since the start.')
  readonly seen!: number;

  @Required(count, 'Of those so many were written down.')
  readonly kept!: number;

  @Required(oneIn, 'At the moment one in so many is kept, by the thread that keeps the smallest share.')
  readonly oneIn!: number;

  @Required(oneIn, 'The same for answers from 500 on and proxy errors.')
  readonly oneInOfErrors!: number;
}

@Component(undefined, { as: 'RecentRequests' })
export class ShownRequests {
  @Required(text, 'The node that answers; it tells of its own proxy alone.')
  readonly node!: string;

  @Required(count, 'So many are remembered; 0: none.')
  readonly capacity!: number;

  @Required(object(RecentCounts), 'Which share of the traffic is kept.')
  readonly sampling!: RecentCounts;

  @Required(list(object(RecentRequest)), 'Last one first.')
  readonly requests!: readonly RecentRequest[];
}

/** Response of one of the two. */
export class MismatchSide {
  @Required(count, '0: there was no response.')
  readonly status!: number;

  @Required(
    nullable(text),
    'What it has at the difference, at most 200 characters; null where it has nothing there, or the status differs.',
  )
  readonly value!: string | null;
}

@Component('Two responses to one request that differ.')
export class MirrorMismatch {
  @Required(text, 'Name of the node whose proxy compared them; of the proxy where its admin port is asked.')
  readonly node!: string;

  @Required(time, 'When both responses were compared.')
  readonly time!: string;

  @Required(text, 'As sent.')
  readonly method!: string;

  @Required(text, 'Without port.')
  readonly host!: string;

  @Required(text, 'Canonical, without the query.')
  readonly path!: string;

  @Required(text, 'Name of the route.')
  readonly route!: string;

  @Required(text, 'Its id.')
  readonly routeId!: string;

  @Required(text, 'Id of the destination of the mirror.')
  readonly destination!: string;

  @Required(oneOf(['status', 'headers', 'body']), 'What differs first.')
  readonly result!: 'status' | 'headers' | 'body';

  @Required(nullable(text), 'JSON pointer of the first difference of two JSON bodies; null for all else.')
  readonly pointer!: string | null;

  @Required(nullable(text), 'Name of the header that differs; null for all else.')
  readonly header!: string | null;

  @Required(object(MismatchSide), 'The response of the destination of the request.')
  readonly primary!: MismatchSide;

  @Required(object(MismatchSide), 'The response of the mirror.')
  readonly mirror!: MismatchSide;
}
