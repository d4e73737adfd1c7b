// Outcomes of explanations: what becomes of a request or a connection, what a middleware would do with a request, and the
// destinations that may get it.
import { type CircuitState, circuitStates } from '../circuit-states.ts';
import { type CookieResult, cookieResults } from '../cookie-keys.ts';
import {
  count,
  discriminated,
  either,
  flag,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  text,
} from '../json-type.ts';
import { Component, Optional, Required } from '../property.ts';
import { IdAndName } from './id-and-name.ts';

const status = 'Status of the response.';

/** Change of a field of the request for the upstream. */
export class ExplainedChange {
  @Required(text, 'Name of the field.')
  readonly name!: string;

  @Required(nullable(text), 'Value; null removes the field.')
  readonly value!: string | null;

  @Required(flag, 'The value comes beside the lines that are there.')
  readonly append!: boolean;
}

const changes = list(object(ExplainedChange));

/** Share that goes to a destination; an explanation of its choice tells more of it. */
export class ExplainedTarget {
  @Required(text, 'Id of the destination.')
  readonly id!: string;

  @Required(number, 'Weight of the share.')
  readonly weight!: number;

  @Required(flag, 'The configuration has the destination.')
  readonly exists!: boolean;
}

class FixedResponse {
  @Required(integer, status)
  readonly status!: number;
}

/** Share with a fixed answer. */
export class ExplainedAnswer {
  @Required(object(FixedResponse), 'The answer.')
  readonly directResponse!: FixedResponse;

  @Required(number, 'Weight of the share.')
  readonly weight!: number;
}

const notServing = ['drained', 'unhealthy', 'ejected', 'priority'] as const;

export class ExplainedEndpoint {
  @Required(text, '`host:port`, as it is shown.')
  readonly name!: string;

  @Required(number, 'Weight.')
  readonly weight!: number;

  @Required(integer, 'Priority.')
  readonly priority!: number;

  @Required(flag, 'A request may get it.')
  readonly serves!: boolean;

  @Optional(oneOf(notServing), 'Why it does not serve.')
  readonly because?: (typeof notServing)[number];

  @Optional(text, 'Why its last health check failed, where it is unhealthy.')
  readonly reason?: string;
}

export class ExplainedDestination extends ExplainedTarget {
  @Optional(flag, 'Some endpoint may be asked.')
  readonly available?: boolean;

  @Optional(oneOf(circuitStates), 'State of its circuit breaker, where it has one and is known.')
  readonly circuit?: CircuitState;

  @Optional(text, 'How one of its endpoints is chosen.')
  readonly algorithm?: string;

  @Optional(text, 'Text that is hashed; absent where nothing is hashed, or by a session that does not exist yet.')
  readonly hashed?: string;

  @Optional(count, 'CRC-32 of that text.')
  readonly key?: number;

  @Optional(
    oneOf(cookieResults),
    'Worth of the signed cookie here; absent where none decides. `kept`: it leads to `endpoint`.',
  )
  readonly cookie?: CookieResult;

  @Optional(nullable(text), 'Endpoint that gets the request; null while it is not settled.')
  readonly endpoint?: string | null;

  @Optional(list(object(ExplainedEndpoint)), 'Its first 100 endpoints, in configured order.')
  readonly endpoints?: readonly ExplainedEndpoint[];

  @Optional(count, 'Number of further endpoints.')
  readonly endpointsLeftOut?: number;
}

/** Destination of a request, and why it is not another one. */
export class DestinationChoice {
  @Required(text, 'How one of several destinations is chosen.')
  readonly algorithm!: string;

  @Required(nullable(text), 'Id of the destination.')
  readonly destination!: string | null;

  @Required(list(either(object(ExplainedDestination), object(ExplainedAnswer))))
  readonly destinations!: readonly (ExplainedDestination | ExplainedAnswer)[];
}

@Component('The middleware lets the request pass.')
class PassesEffect {
  @Required(oneOf(['passes']), 'Kind.')
  readonly kind!: 'passes';

  @Optional(changes, 'Changes of request fields, in order.')
  readonly changes?: readonly ExplainedChange[];

  @Optional(object(IdAndName), 'Consumer that it finds.')
  readonly consumer?: IdAndName;
}

@Component('The middleware answers the request.')
class AnswersEffect extends FixedResponse {
  @Required(oneOf(['answers']), 'Kind.')
  readonly kind!: 'answers';
}

@Component('The request alone does not tell what the middleware does.')
class UnknownEffect {
  @Required(oneOf(['unknown']), 'Kind.')
  readonly kind!: 'unknown';
}

export type ChainEffect = PassesEffect | AnswersEffect | UnknownEffect;
export const chainEffect = discriminated('kind', {
  passes: PassesEffect,
  answers: AnswersEffect,
  unknown: UnknownEffect,
});

/** Request as its upstream would get it. */
class UpstreamRequest {
  @Required(text, 'Method.')
  readonly method!: string;

  @Required(text, 'Path and query.')
  readonly target!: string;

  @Required(text, 'Value of `Host`.')
  readonly host!: string;

  @Optional(changes, 'Changes of fields by the route and the destination, in order.')
  readonly changes?: readonly ExplainedChange[];
}

@Component('The request is forwarded.')
class ForwardOutcome {
  @Required(oneOf(['forward']), 'Kind.')
  readonly action!: 'forward';

  @Required(list(either(object(ExplainedTarget), object(ExplainedAnswer))), 'Shares of the route, as listed.')
  readonly destinations!: readonly (ExplainedTarget | ExplainedAnswer)[];

  @Required(
    object(UpstreamRequest),
    'Request as the upstream sees it; with several destinations that of the first which may get it.',
  )
  readonly upstream!: UpstreamRequest;
}

@Component('The request is redirected.')
class RedirectOutcome extends FixedResponse {
  @Required(oneOf(['redirect']), 'Kind.')
  readonly action!: 'redirect';

  @Required(text, 'Value of `Location`.')
  readonly location!: string;
}

@Component('The route answers by itself.')
class DirectResponseOutcome extends FixedResponse {
  @Required(oneOf(['directResponse']), 'Kind.')
  readonly action!: 'directResponse';
}

@Component('A middleware answers.')
class MiddlewareOutcome extends FixedResponse {
  @Required(oneOf(['middleware']), 'Kind.')
  readonly action!: 'middleware';

  @Required(text, 'Id of the middleware.')
  readonly id!: string;
}

class ShownPage {
  @Required(oneOf(['route', 'listener']), 'Resource that has the page.')
  readonly of!: 'route' | 'listener';

  @Required(text, 'Value of `Content-Type`.')
  readonly contentType!: string;
}

@Component('The request is answered by an error.')
class FailureOutcome extends FixedResponse {
  @Required(oneOf(['error']), 'Kind.')
  readonly action!: 'error';

  @Required(text, 'Type of the error.')
  readonly error!: string;

  @Optional(object(ShownPage), 'Error page that is its body.')
  readonly page?: ShownPage;
}

export type EntryOutcome =
  | ForwardOutcome
  | RedirectOutcome
  | DirectResponseOutcome
  | MiddlewareOutcome
  | FailureOutcome;
export const entryOutcome = discriminated('action', {
  forward: ForwardOutcome,
  redirect: RedirectOutcome,
  directResponse: DirectResponseOutcome,
  middleware: MiddlewareOutcome,
  error: FailureOutcome,
});

@Component('The connection is carried to a destination.')
class StreamedOutcome {
  @Required(oneOf(['stream']), 'Kind.')
  readonly action!: 'stream';

  @Required(list(object(ExplainedDestination)), 'Destinations of the route, as listed.')
  readonly destinations!: readonly ExplainedDestination[];
}

@Component('The connection is closed.')
class ClosedOutcome {
  @Required(oneOf(['close']), 'Kind.')
  readonly action!: 'close';

  @Required(text, 'Type of the error.')
  readonly error!: string;
}

export type StreamOutcome = StreamedOutcome | ClosedOutcome;
export const streamOutcome = discriminated('action', { stream: StreamedOutcome, close: ClosedOutcome });
