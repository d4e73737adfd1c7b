// Variables of the templates of an access log (contract.md §8.7, observability.md §1). Every value is text; a value
// that is unknown, or not known yet when a request arrives, is empty or 0.
import { clientGone } from '../../errors.ts';
import { parseTraceParent } from '../../telemetry/traces/trace-parent.ts';
import type { MiddlewareExchange } from '../exchange/phase.ts';
import { readableText } from '../fields/field-lines.ts';
import { loggedField } from './log-text.ts';
import type { Variable } from './template.ts';

/** Exchange or connection, as far as a line says something about it. */
export type LoggedExchange = Pick<
  MiddlewareExchange,
  | 'nowMs'
  | 'state'
  | 'startedMs'
  | 'route'
  | 'group'
  | 'snapshot'
  | 'role'
  | 'destinationId'
  | 'endpoint'
  | 'attempts'
  | 'error'
  | 'aborted'
  | 'abortReason'
  | 'connectMs'
  | 'upstreamMs'
  | 'requestBytes'
  | 'responseBytes'
> & {
  readonly request: LoggedRequest;
  readonly response: Pick<MiddlewareExchange['response'], 'status' | 'header' | 'keepLines'>;
  readonly trace: Pick<NonNullable<MiddlewareExchange['trace']>, 'traceId'> | undefined;
};

type RequestFields = 'id' | 'method' | 'path' | 'host' | 'authority' | 'clientIp' | 'listener' | 'header' | 'security';

export interface LoggedRequest extends Pick<MiddlewareExchange['request'], RequestFields> {
  readonly scheme: string;
  readonly protocol: string;
  readonly consumer?: MiddlewareExchange['request']['consumer'];
}

/** One exchange at the moment a line is written. */
export interface LogMoment {
  readonly exchange: LoggedExchange;
  /** Place of the middleware in its chain; keeps the id of the exchange. */
  readonly slot: number;
  /** False for the line of the request: there is no response yet. */
  readonly complete: boolean;
  /** Monotonic, like the exchange's start. */
  readonly nowMs: number;
}

/** Form of a value in a line: any text, a whole number that is not negative, or the id of the exchange. */
export type LogVariable =
  | { readonly kind: 'text'; readonly read: Variable<LogMoment> }
  | { readonly kind: 'count'; readonly read: (moment: LogMoment) => number }
  | { readonly kind: 'id' };

/** Returns the variable; undefined for an unknown placeholder. */
export function logVariable(name: string): LogVariable | undefined {
  const known = variables.get(name);
  if (known !== undefined) return known;
  const ofRequest = headerIn(name, 'request.header.');
  if (ofRequest !== undefined) return ofExchange(({ request }) => loggedField(ofRequest, request.header(ofRequest)));
  if (name.startsWith(labelPrefix)) {
    const label = name.slice(labelPrefix.length);
    return ofExchange(({ request }) => request.consumer?.labels.get(label) ?? '');
  }
  const ofResponse = headerIn(name, 'response.header.');
  if (ofResponse === undefined) return undefined;
  return atTheEnd(({ response }) => loggedField(ofResponse, response.header(ofResponse)));
}

const labelPrefix = 'consumer.labels.';

function headerIn(name: string, prefix: string): string | undefined {
  return name.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length).toLowerCase() : undefined;
}

const elapsedMs = ({ complete, exchange, nowMs }: LogMoment): number =>
  complete ? Math.max(0, nowMs - exchange.startedMs) : 0;

const text = (read: Variable<LogMoment>): LogVariable => ({ kind: 'text', read });
const count = (read: (moment: LogMoment) => number): LogVariable => ({ kind: 'count', read });

const ofExchange = (value: (exchange: LoggedExchange) => string): LogVariable =>
  text(({ exchange }) => value(exchange));

const atTheEnd = (value: (exchange: LoggedExchange) => string): LogVariable =>
  text(({ exchange, complete }) => (complete ? value(exchange) : ''));

const countAtTheEnd = (value: (exchange: LoggedExchange) => number): LogVariable =>
  count(({ exchange, complete }) => (complete ? value(exchange) : 0));

/** Returns the id of the trace that the exchange is part of; while traces are off, of the one that the client names. */
const traceIdOf = ({ trace, request }: LoggedExchange): string =>
  trace?.traceId ?? parseTraceParent(request.header('traceparent') ?? '')?.traceId ?? '';

const variables: ReadonlyMap<string, LogVariable> = new Map<string, LogVariable>([
  ['id', { kind: 'id' }],
  ['request.id', ofExchange(({ request }) => request.id)],
  ['request.method', ofExchange(({ request }) => request.method)],
  ['request.path', ofExchange(({ request }) => readableText(request.path))],
  ['request.host', ofExchange(({ request }) => request.host)],
  ['request.authority', ofExchange(({ request }) => request.authority)],
  ['request.scheme', ofExchange(({ request }) => request.scheme)],
  ['request.clientIp', ofExchange(({ request }) => request.clientIp)],
  ['request.listener.id', ofExchange(({ request }) => request.listener?.id ?? '')],
  ['request.listener.name', ofExchange(({ request }) => request.listener?.name ?? '')],
  ['request.listener.port', ofExchange(({ request }) => String(request.listener?.port ?? ''))],
  ['request.listener.section', ofExchange(({ request }) => request.listener?.section ?? '')],
  ['consumer.id', ofExchange(({ request }) => request.consumer?.id ?? '')],
  ['consumer.name', ofExchange(({ request }) => request.consumer?.name ?? '')],
  ['request.bytes', countAtTheEnd(({ requestBytes }) => requestBytes)],
  ['response.status', countAtTheEnd(({ response, aborted }) => response.status || (aborted ? clientGone : 0))],
  ['response.bytes', countAtTheEnd(({ responseBytes }) => responseBytes)],
  ['duration.ms', count((moment) => Math.floor(elapsedMs(moment)))],
  ['duration.us', count((moment) => Math.floor(elapsedMs(moment) * 1000))],
  ['duration.s', text((moment) => (elapsedMs(moment) / 1000).toFixed(3))],
  ['snapshot.id', ofExchange(({ snapshot }) => snapshot.id)],
  ['snapshot.name', ofExchange(({ snapshot }) => snapshot.name)],
  ['snapshot.index', count(({ exchange }) => exchange.snapshot.index)],
  ['snapshot.role', ofExchange(({ role }) => role)],
  ['route.name', ofExchange(({ route }) => route.name)],
  ['route.id', ofExchange(({ route }) => route.id)],
  ['group.name', ofExchange(({ group }) => group?.name ?? '')],
  ['destination.id', atTheEnd(({ destinationId }) => destinationId)],
  ['endpoint', atTheEnd(({ endpoint }) => endpoint)],
  ['attempts', countAtTheEnd(({ attempts }) => attempts)],
  ['error', atTheEnd(({ error, abortReason }) => error || abortReason)],
  ['upstream.ms', countAtTheEnd(({ upstreamMs }) => Math.max(0, Math.floor(upstreamMs)))],
  ['upstream.connect.ms', countAtTheEnd(({ connectMs }) => Math.max(0, Math.floor(connectMs)))],
  ['trace.id', ofExchange(traceIdOf)],
  ['protocol', ofExchange(({ request }) => request.protocol)],
  ['tls.version', ofExchange(({ request }) => request.security?.version ?? '')],
  ['tls.sni', ofExchange(({ request }) => request.security?.serverName ?? '')],
]);

/** Names of the variables without the name of a field. */
export const logVariableNames: readonly string[] = [...variables.keys()];
