// The spans of one exchange: one for the request, one for each try, copy and call to a service, by the semantic
// conventions for HTTP and RPC. Of the client's data only method, path, host and address are recorded: never a query, a
// field, a cookie or a body.
import type { Attributes } from '@opentelemetry/api';
import type { RecordingSpan } from '../../telemetry/traces/recorded-span.ts';
import { hostOf, methodAttributes, methodName, pathOf, portOf, versionOf } from '../../telemetry/traces/span-texts.ts';
import { lineOf } from '../../telemetry/traces/trace-parent.ts';
import { type TraceStart, type Tracing, traceParentOf } from '../../telemetry/traces/tracing.ts';
import type { Clock } from '../../util/clock.ts';
import { readableText } from '../fields/field-lines.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { TraceFields } from '../message/upstream-stream.ts';
import type {
  ExchangeTrace,
  NamedLink,
  ServiceCall,
  TracedCall,
  TracedExchange,
  UpstreamCall,
} from './exchange-trace.ts';

export interface RecordedTraceParts {
  readonly tracing: Tracing;
  readonly clock: Clock;
  readonly start: TraceStart;
  readonly request: ExchangeRequest;
  /** Names of the client's lines that upstreams do not get. */
  readonly replaced: readonly string[];
}

export class RecordedTrace implements ExchangeTrace {
  readonly #tracing: Tracing;
  readonly #clock: Clock;
  /** Unix time with fractions, less the monotonic one: all spans of an exchange are on one scale. */
  readonly #offsetMs: number;
  readonly #method: string;
  readonly #replaced: readonly string[];
  readonly #server: RecordingSpan;
  #links: readonly NamedLink[] = [];
  #attempt: CallSpan | undefined;
  #status = 0;
  #over = false;

  constructor({ tracing, clock, start, request, replaced }: RecordedTraceParts) {
    this.#tracing = tracing;
    this.#clock = clock;
    this.#offsetMs = clock.nowMs() - clock.monotonicMs();
    this.#method = request.method;
    this.#replaced = replaced;
    this.#server = tracing.enter(start, 'server', methodName(request.method), this.#nowMs());
  }

  get unrecorded(): undefined {
    return undefined;
  }

  get traceId(): string {
    return this.#server.spanContext().traceId;
  }

  matched({ links }: { readonly links: readonly NamedLink[] }): void {
    this.#links = links;
  }

  beginAttempt(call: UpstreamCall): TraceFields | undefined {
    this.endAttempt(this.#status, '');
    this.#attempt = this.#upstreamCall(call);
    return this.#attempt.fields;
  }

  responded(status: number): void {
    this.#status = status;
  }

  endAttempt(status: number, failure: string): void {
    this.#attempt?.end(status, failure);
    this.#attempt = undefined;
    this.#status = 0;
  }

  copy(call: UpstreamCall): TracedCall {
    const copy = this.#upstreamCall(call);
    copy.span.setAttribute('sluice.mirror', true);
    return copy;
  }

  ask(slot: number, { destinationId, operation, kind }: ServiceCall): TracedCall {
    const link = this.#links[slot];
    const name = kind === 'grpc' ? operation : methodName(operation);
    const attributes: Attributes =
      kind === 'grpc' ? { 'rpc.system.name': 'grpc', 'rpc.method': operation } : methodAttributes(operation);
    const call = this.#begin(name, { ...attributes, ...namesOf(link), 'sluice.destination': destinationId });
    if (link !== undefined) call.onEnd = () => this.#record(link, { 'sluice.middleware.outcome': 'called' });
    call.isLate = () => this.#over;
    return call;
  }

  answered(link: NamedLink, status: number): void {
    this.#record(link, { 'sluice.middleware.outcome': 'answered', 'http.response.status_code': status });
  }

  finish(exchange: TracedExchange): void {
    const { aborted: cut, error, response } = exchange;
    const { status } = response;
    this.endAttempt(this.#status, cut ? 'aborted' : '');
    this.#over = true;
    const span = this.#server;
    const name = methodName(this.#method);
    if (exchange.route.name !== '') span.updateName(`${name} ${exchange.route.name}`);
    describe(span, exchange);
    if (status >= 500) this.#tracing.fail(span, error || String(status));
    else if (cut) this.#tracing.fail(span, 'aborted');
    span.end(this.#nowMs());
  }

  #upstreamCall({ destinationId, endpoint, secure, version, target, attempt }: UpstreamCall): CallSpan {
    const call = this.#begin(methodName(this.#method), methodAttributes(this.#method));
    const { span } = call;
    const port = portOf(endpoint);
    span.setAttribute('server.address', hostOf(endpoint));
    if (port > 0) span.setAttribute('server.port', port);
    span.setAttribute('url.full', `${secure ? 'https' : 'http'}://${endpoint}${pathOf(target)}`);
    span.setAttribute('network.protocol.version', version);
    if (attempt > 1) span.setAttribute('http.request.resend_count', attempt - 1);
    if (attempt > 0) span.setAttribute('sluice.attempt', attempt);
    span.setAttribute('sluice.destination', destinationId);
    span.setAttribute('sluice.endpoint', endpoint);
    return call;
  }

  #begin(name: string, attributes: Attributes): CallSpan {
    const span = this.#tracing.child(this.#server.spanContext(), 'client', name, this.#nowMs());
    span.setAttributes(attributes);
    return new CallSpan(span, this.#replaced, this.#tracing, () => this.#nowMs());
  }

  #record(link: NamedLink, attributes: Attributes): void {
    if (!this.#over) this.#server.addEvent('sluice.middleware', { ...namesOf(link), ...attributes }, this.#nowMs());
  }

  #nowMs(): number {
    return this.#offsetMs + this.#clock.monotonicMs();
  }
}

class CallSpan implements TracedCall {
  readonly span: RecordingSpan;
  readonly fields: TraceFields;
  onEnd: () => void = () => {};
  /** True when the caller did not wait for the result. */
  isLate: () => boolean = () => false;
  readonly #tracing: Tracing;
  readonly #nowMs: () => number;
  #over = false;

  constructor(span: RecordingSpan, replaced: readonly string[], tracing: Tracing, nowMs: () => number) {
    this.span = span;
    const traceparent = traceParentOf(span);
    this.fields = { traceparent, line: lineOf(traceparent), replaced };
    this.#tracing = tracing;
    this.#nowMs = nowMs;
  }

  get traceparent(): string {
    return this.fields.traceparent;
  }

  end(status: number, failure: string): void {
    if (this.#over) return;
    this.#over = true;
    if (status > 0) this.span.setAttribute('http.response.status_code', status);
    // A client's span fails with 4xx too (semantic conventions for HTTP, Status).
    const type = (failure !== '' && this.isLate() ? 'aborted' : failure) || (status >= 400 ? String(status) : '');
    if (type !== '') this.#tracing.fail(this.span, type);
    this.span.end(this.#nowMs());
    this.onEnd();
  }
}

function describe(span: RecordingSpan, exchange: TracedExchange): void {
  const { request, response, snapshot, role, route, group, destinationId, endpoint, attempts, error } = exchange;
  const port = portOf(request.authority);
  span.setAttributes(methodAttributes(request.method));
  span.setAttribute('url.scheme', request.scheme);
  span.setAttribute('url.path', readableText(request.path));
  if (request.host !== '') span.setAttribute('server.address', request.host);
  if (port > 0) span.setAttribute('server.port', port);
  span.setAttribute('client.address', request.clientIp);
  span.setAttribute('network.protocol.version', versionOf(request.protocol));
  if (response.status > 0) span.setAttribute('http.response.status_code', response.status);
  span.setAttribute('sluice.snapshot.id', snapshot.id);
  span.setAttribute('sluice.snapshot.index', snapshot.index);
  if (role === 'candidate') span.setAttribute('sluice.snapshot.role', role);
  if (route.name !== '') span.setAttribute('sluice.route', route.name);
  if (group !== undefined) span.setAttribute('sluice.group', group.name);
  if (destinationId !== '') span.setAttribute('sluice.destination', destinationId);
  if (endpoint !== '') span.setAttribute('sluice.endpoint', endpoint);
  if (attempts > 0) span.setAttribute('sluice.attempts', attempts);
  if (error !== '') span.setAttribute('sluice.error', error);
}

const namesOf = (link: NamedLink | undefined): Attributes =>
  link === undefined ? {} : { 'sluice.middleware': link.name, 'sluice.middleware.type': link.type };
