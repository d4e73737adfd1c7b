// Tracing of one thread, through OpenTelemetry's interfaces: the sampling decision comes before the first span, so that an
// unrecorded trace makes none. Made by open-tracing.ts, and only where traces are on.
import type * as Api from '@opentelemetry/api';
import type { Attributes, SpanContext, SpanKind } from '@opentelemetry/api';
import type { RecordingSpan } from './recorded-span.ts';
import type { TraceIds } from './trace-ids.ts';
import { formatTraceParent, placeInLine, type TraceParent, traceIdIn, traceParentIn } from './trace-parent.ts';

/** Used part of OpenTelemetry's interface; its module is loaded only when traces are on. */
export type TraceApi = Pick<typeof Api, 'SpanKind' | 'SpanStatusCode'>;

/** Trace at its entry into the process, or at its beginning. */
export interface TraceStart {
  readonly traceId: string;
  /** Parent; undefined where the trace begins here. */
  readonly parent: TraceParent | undefined;
  readonly sampled: boolean;
}

export type SpanRole = 'server' | 'client' | 'internal';

export interface TracingParts {
  readonly api: TraceApi;
  /** `rootId`: of the trace that begins with the span. */
  readonly startSpan: (
    name: string,
    kind: SpanKind,
    parent: SpanContext | undefined,
    rootId: string,
    startMs: number | undefined,
  ) => RecordingSpan;
  readonly ids: Pick<TraceIds, 'newTrace' | 'spanId'>;
}

export class Tracing {
  readonly #api: TraceApi;
  readonly #startSpan: TracingParts['startSpan'];
  readonly #ids: TracingParts['ids'];
  readonly #kinds: Readonly<Record<SpanRole, SpanKind>>;

  constructor({ api, startSpan, ids }: TracingParts) {
    const { SERVER: server, CLIENT: client, INTERNAL: internal } = api.SpanKind;
    this.#api = api;
    this.#startSpan = startSpan;
    this.#ids = ids;
    this.#kinds = { server, client, internal };
  }

  /** Begins a trace: follows the parent's sampling decision, or decides by the new id. */
  begin(parent: TraceParent | undefined): TraceStart {
    if (parent !== undefined) return { traceId: parent.traceId, parent, sampled: parent.sampled };
    return startOf(this.newTrace());
  }

  /** Begins a trace without a parent and without allocating an object: returns the field line of TraceIds. */
  newTrace(): string {
    return this.#ids.newTrace();
  }

  /** Value of `traceparent` for a trace that is not recorded. */
  unrecorded({ traceId, parent }: TraceStart): string {
    return formatTraceParent(traceId, parent?.parentId ?? this.#ids.spanId(), false);
  }

  /** First span of this process in a sampled trace. `startMs` is Unix time with fractions; now when absent. */
  enter({ traceId, parent }: TraceStart, role: SpanRole, name: string, startMs?: number): RecordingSpan {
    const context = parent && { traceId, spanId: parent.parentId, traceFlags: 1, isRemote: true };
    return this.#start(role, name, context, traceId, startMs);
  }

  child(parent: SpanContext, role: SpanRole, name: string, startMs?: number): RecordingSpan {
    return this.#start(role, name, parent, parent.traceId, startMs);
  }

  /** Sets `error.type`, of low cardinality, and the status of an error. */
  fail(span: RecordingSpan, type: string, more: Attributes = {}): void {
    span.setAttributes(more);
    span.setAttribute('error.type', type);
    span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
  }

  #start(
    role: SpanRole,
    name: string,
    parent: SpanContext | undefined,
    rootId: string,
    startMs: number | undefined,
  ): RecordingSpan {
    return this.#startSpan(name, this.#kinds[role], parent, rootId, startMs);
  }
}

/** Returns whether the trace of the field line is recorded. */
export const isSampled = (line: string): boolean => line.charCodeAt(placeInLine.flag) === one;

const one = 49;

/** Start of the trace of a field line. */
export const startOf = (line: string): TraceStart => ({
  traceId: traceIdIn(traceParentIn(line)),
  parent: undefined,
  sampled: isSampled(line),
});

/** Value of `traceparent` for requests on behalf of the span. */
export function traceParentOf(span: RecordingSpan): string {
  const { traceId, spanId } = span.spanContext();
  return formatTraceParent(traceId, spanId, true);
}
