// What the templates of an access log can ask for (contract.md §8.7, observability.md §1). Every value is text; what
// is not known, or not known yet when a request arrives, is empty or 0.
import { randomUUID } from 'node:crypto';
import { parseTraceParent } from '../../telemetry/traces/trace-parent.ts';
import type { MiddlewareExchange } from '../exchange/phase.ts';
import { readableText } from '../fields/field-lines.ts';
import { loggedField } from './log-text.ts';
import type { Variable } from './template.ts';

/** One exchange at the moment a line is written. */
export interface LogMoment {
  readonly exchange: MiddlewareExchange;
  /** Place of the middleware in its chain; keeps the id of the exchange. */
  readonly slot: number;
  /** False for the line of the request: there is no response yet. */
  readonly complete: boolean;
  /** Monotonic, like the exchange's start. */
  readonly nowMs: number;
}

type LogVariable = Variable<LogMoment>;

/** Undefined for a placeholder that nobody knows. */
export function logVariable(name: string): LogVariable | undefined {
  const known = variables.get(name);
  if (known !== undefined) return known;
  const ofRequest = headerIn(name, 'request.header.');
  if (ofRequest !== undefined) return ({ exchange }) => loggedField(ofRequest, exchange.request.header(ofRequest));
  const ofResponse = headerIn(name, 'response.header.');
  if (ofResponse === undefined) return undefined;
  return ({ exchange, complete }) => (complete ? loggedField(ofResponse, exchange.response.header(ofResponse)) : '');
}

function headerIn(name: string, prefix: string): string | undefined {
  return name.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length).toLowerCase() : undefined;
}

/** The same for the line of the request and that of its response. */
function idOf({ exchange, slot }: LogMoment): string {
  const known = exchange.state[slot];
  if (typeof known === 'string') return known;
  const id = randomUUID();
  exchange.state[slot] = id;
  return id;
}

const elapsedMs = ({ complete, exchange, nowMs }: LogMoment): number =>
  complete ? Math.max(0, nowMs - exchange.startedMs) : 0;

const atTheEnd =
  (value: (exchange: MiddlewareExchange) => string | number, before = ''): LogVariable =>
  ({ exchange, complete }) =>
    complete ? String(value(exchange)) : before;

const ofExchange =
  (value: (exchange: MiddlewareExchange) => string): LogVariable =>
  ({ exchange }) =>
    value(exchange);

/** Of the trace that the exchange is part of; while traces are off, of the one that the client names. */
const traceIdOf = ({ trace, request }: MiddlewareExchange): string =>
  trace?.traceId ?? parseTraceParent(request.header('traceparent') ?? '')?.traceId ?? '';

const variables: ReadonlyMap<string, LogVariable> = new Map<string, LogVariable>([
  ['id', idOf],
  ['request.method', ofExchange(({ request }) => request.method)],
  ['request.path', ofExchange(({ request }) => readableText(request.path))],
  ['request.host', ofExchange(({ request }) => request.host)],
  ['request.authority', ofExchange(({ request }) => request.authority)],
  ['request.scheme', ofExchange(({ request }) => request.scheme)],
  ['request.clientIp', ofExchange(({ request }) => request.clientIp)],
  ['request.bytes', atTheEnd(({ requestBytes }) => requestBytes, '0')],
  ['response.status', atTheEnd(({ response }) => response.status, '0')],
  ['response.bytes', atTheEnd(({ responseBytes }) => responseBytes, '0')],
  ['duration.ms', (moment) => String(Math.floor(elapsedMs(moment)))],
  ['duration.us', (moment) => String(Math.floor(elapsedMs(moment) * 1000))],
  ['duration.s', (moment) => (elapsedMs(moment) / 1000).toFixed(3)],
  ['snapshot.id', ofExchange(({ snapshot }) => snapshot.id)],
  ['snapshot.name', ofExchange(({ snapshot }) => snapshot.name)],
  ['snapshot.index', ofExchange(({ snapshot }) => String(snapshot.index))],
  ['snapshot.role', ofExchange(({ role }) => role)],
  ['route.name', ofExchange(({ route }) => route.name)],
  ['route.id', ofExchange(({ route }) => route.id)],
  ['group.name', ofExchange(({ group }) => group?.name ?? '')],
  ['destination.id', atTheEnd(({ destinationId }) => destinationId)],
  ['endpoint', atTheEnd(({ endpoint }) => endpoint)],
  ['attempts', atTheEnd(({ attempts }) => attempts, '0')],
  ['error', atTheEnd(({ error }) => error)],
  ['upstream.ms', atTheEnd(({ upstreamMs }) => Math.max(0, Math.floor(upstreamMs)), '0')],
  ['trace.id', ofExchange(traceIdOf)],
  ['protocol', ofExchange(({ request }) => request.protocol)],
  ['tls.version', ofExchange(({ request }) => request.security?.version ?? '')],
  ['tls.sni', ofExchange(({ request }) => request.security?.serverName ?? '')],
]);

/** Numbers, and names of a few letters of our own: as they are in any form of line. */
const harmlessNames = [
  ...['id', 'request.bytes', 'response.status', 'response.bytes', 'duration.ms', 'duration.us', 'duration.s'],
  ...['snapshot.index', 'snapshot.role', 'attempts', 'error', 'upstream.ms', 'protocol', 'tls.version'],
];
const harmless: ReadonlySet<LogVariable | undefined> = new Set(harmlessNames.map((name) => variables.get(name)));

/** No value of it needs escaping. */
export const isHarmless = (variable: LogVariable): boolean => harmless.has(variable);

/** Those that have no name of a field in them. */
export const logVariableNames: readonly string[] = [...variables.keys()];
