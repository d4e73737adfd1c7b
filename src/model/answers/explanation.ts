// Explanations: why a request is answered as it is, and where a connection goes.
import { bodyLengthMax, headerValuesMax, urlLengthMax } from '../explain-limits.ts';
import { count, either, flag, limited, list, map, nullable, number, object, oneOf, text } from '../json-type.ts';
import { addressPattern, hostPattern } from '../pattern.ts';
import { Component, Optional, Required } from '../property.ts';
import {
  type ChainEffect,
  chainEffect,
  DestinationChoice,
  type EntryOutcome,
  entryOutcome,
} from './explained-outcome.ts';
import { IdAndName } from './id-and-name.ts';

@Component('The request that is asked about, and the configuration it is asked of.')
export class ExplainRequest {
  @Optional(limited(text, { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }), 'Method.', { default: 'GET' })
  readonly method?: string;

  @Required(
    limited(text, { pattern: '^(/|[Hh][Tt][Tt][Pp][Ss]?://[^/?#]+)', maxLength: urlLengthMax }),
    'Path and query, or an absolute URL.',
    { example: 'http://shop.example/cart?item=7' },
  )
  readonly url!: string;

  @Optional(
    map(either(text, list(text, { maxItems: headerValuesMax })), { maxProperties: headerValuesMax }),
    'Header values by name. `host` names the host when `url` does not. At most 1,000 values, and 256 KiB together.',
  )
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;

  @Optional(limited(text, { pattern: addressPattern }), 'Address of the client.', { default: '127.0.0.1' })
  readonly clientIp?: string;

  @Optional(limited(text, { maxLength: bodyLengthMax }), 'Body of the request, as expressions see it.')
  readonly body?: string;

  @Optional(text, '`active`, `staged`, or the id of a snapshot.', { default: 'active' })
  readonly snapshot?: string;

  @Optional(
    text,
    'Id or name of the listener that the request comes in on, which decides the scheme then. Absent: the one with port and scheme of `url`, else the first with the scheme, else the first.',
    { example: 'public' },
  )
  readonly listener?: string;

  @Optional(
    limited(text, { pattern: hostPattern }),
    'Server name of the TLS handshake, for `tls.strictServerName` of a listener with sections.',
    { example: 'shop.example' },
  )
  readonly sni?: string;
}

export class EntryPath {
  @Required(oneOf(['exact', 'prefix', 'regex']), 'How it matches.')
  readonly type!: 'exact' | 'prefix' | 'regex';

  @Required(text, 'Path, prefix or pattern.')
  readonly value!: string;
}

export const matcherKinds = [
  'path',
  'listener',
  'hostnames',
  'methods',
  'grpc',
  'scheme',
  'port',
  'header',
  'query',
  'cel',
] as const;

export class FailedMatcher {
  @Required(oneOf(matcherKinds), 'Kind of matcher.')
  readonly matcher!: (typeof matcherKinds)[number];

  @Required(text, 'What it asks for.')
  readonly wanted!: string;

  @Required(nullable(text), 'What the request has there.')
  readonly found!: string | null;
}

/** Keys of the order of evaluation (contract.md §6.4). */
const orderKeys = [
  'priority',
  'path',
  'prefixLength',
  'headers',
  'hostnames',
  'queryParams',
  'methods',
  'grpc',
  'scheme',
  'port',
  'cel',
  'membership',
  'groupName',
  'position',
  'routeName',
  'routeId',
] as const;
export type OrderKey = (typeof orderKeys)[number];

export class Precedence {
  @Required(oneOf(orderKeys), 'Key of the order of evaluation; the first in which they differ.')
  readonly key!: OrderKey;

  @Required(either(text, number), 'Value of the winner.')
  readonly winner!: string | number;

  @Required(either(text, number), 'Value of this entry.')
  readonly own!: string | number;
}

/** The entry that serves a request. */
export class Winner {
  @Required(object(IdAndName), 'Its route.')
  readonly route!: IdAndName;

  @Optional(object(IdAndName), 'Its group.')
  readonly group?: IdAndName;
}

@Component('An entry of the routing table whose path agrees.')
export class ExplainCandidate {
  @Required(object(IdAndName), 'Its route.')
  readonly route!: IdAndName;

  @Optional(object(IdAndName), 'Its group; absent for a route that stands alone.')
  readonly group?: IdAndName;

  @Required(object(EntryPath), 'Path of group and route composed.')
  readonly path!: EntryPath;

  @Required(count, 'Its priority.')
  readonly priority!: number;

  @Required(flag, 'Everything else agrees too.')
  readonly matches!: boolean;

  @Optional(object(FailedMatcher), 'The first matcher that does not agree.')
  readonly failed?: FailedMatcher;

  @Optional(
    object(Precedence),
    'Of an entry that matches and does not win: the key by which the winner ranks before it.',
  )
  readonly rankedBehind?: Precedence;
}

export class ChainCondition {
  @Required(oneOf(['skipWhen', 'onlyWhen']), 'Where it stands.')
  readonly field!: 'skipWhen' | 'onlyWhen';

  @Required(text, 'The expression.')
  readonly expression!: string;

  @Required(nullable(flag), 'Null for one that cannot be decided: `skipWhen` does not skip then, and `onlyWhen` runs.')
  readonly value!: boolean | null;

  @Optional(oneOf(['error', 'exhausted']), 'Why it cannot be decided: it fails, or takes too many steps.')
  readonly failed?: 'error' | 'exhausted';
}

@Component('A middleware of the winning entry.')
export class ExplainMiddleware {
  @Required(text, 'Id.')
  readonly id!: string;

  @Optional(text, 'Name.')
  readonly name?: string;

  @Optional(text, 'Type.')
  readonly type?: string;

  @Required(flag, 'Whether it takes part.')
  readonly runs!: boolean;

  @Required(
    oneOf(['always', 'disabled', 'skipWhen', 'onlyWhen', 'notReached']),
    'What decided; `notReached` when a middleware before it answers.',
  )
  readonly because!: 'always' | 'disabled' | 'skipWhen' | 'onlyWhen' | 'notReached';

  @Optional(text, 'The expression that decided.')
  readonly expression?: string;

  @Optional(list(object(ChainCondition)), 'What each condition gives.')
  readonly conditions?: readonly ChainCondition[];

  @Optional(
    chainEffect,
    'What it would do, when it runs: `passes` with the `changes` to request headers and the `consumer` that it finds, `answers` with `status`, or ' +
      '`unknown` when the request alone does not tell.',
  )
  readonly effect?: ChainEffect;
}

/** The request as matchers see it. */
export class MatchedRequest {
  @Required(text, 'Method.')
  readonly method!: string;

  @Required(text, 'Host.')
  readonly host!: string;

  @Required(text, 'Path.')
  readonly path!: string;

  @Required(text, 'Client.')
  readonly clientIp!: string;
}

export class ExplainedListener extends IdAndName {
  @Required(count, 'Port.')
  readonly port!: number;

  @Required(text, 'Name of the section; empty where the listener has none, or none for the host or server name.')
  readonly section!: string;
}

/** Explanation of a request by one configuration. */
export class RequestExplanation {
  @Required(object(MatchedRequest), 'The request as matchers see it: canonical path, host without port.')
  readonly request!: MatchedRequest;

  @Required(
    nullable(object(ExplainedListener)),
    'Listener that the request comes in on, and the section of its host; null where there is none.',
  )
  readonly listener!: ExplainedListener | null;

  @Required(nullable(count), 'Priority of the route that wins; null when none does.')
  readonly priority!: number | null;

  @Required(nullable(object(Winner)), 'The entry that serves the request; null when none does.')
  readonly winner!: Winner | null;

  @Required(list(object(ExplainCandidate)), 'In the order in which they are asked.')
  readonly candidates!: readonly ExplainCandidate[];

  @Required(
    list(object(ExplainCandidate)),
    'Where nothing matches: up to five entries that come nearest, each with what fails first.',
  )
  readonly nearest!: readonly ExplainCandidate[];

  @Required(count, 'Candidates beyond the first hundred.')
  readonly candidatesLeftOut!: number;

  @Required(list(object(ExplainMiddleware)), 'Outermost first.')
  readonly middlewares!: readonly ExplainMiddleware[];

  @Required(
    entryOutcome,
    'What becomes of the request: `forward` with `destinations` and `upstream` {method, target, host, changes}, `redirect` ' +
      'with `status` and `location`, `directResponse` with `status`, `middleware` with `id` and `status` when one answers, ' +
      'or `error` with `status`, `error` and, where an error page is its body, `page` {of: `route` or `listener`, contentType}.',
  )
  readonly outcome!: EntryOutcome;

  @Optional(
    object(DestinationChoice),
    'Of a request that would be forwarded: `algorithm` and `destination` of the route (null while it is left to ' +
      'chance or to a session), and `destinations`, each with its own algorithm, the text that is hashed and its key, ' +
      'where a signed cookie decides what it is worth (`cookie`), the endpoint (null as before), its circuit, and its endpoints: which of them serve, and why the others do not. ' +
      'A share with a fixed answer is `directResponse` {status} and `weight`.',
  )
  readonly choice?: DestinationChoice;
}

@Component('Why a request is answered as it is.')
export class Explanation extends RequestExplanation {
  @Required(text, '`staged`, or the id of the snapshot.')
  readonly snapshot!: string;

  @Required(list(text), 'What could not be taken into account.')
  readonly notes!: readonly string[];
}
