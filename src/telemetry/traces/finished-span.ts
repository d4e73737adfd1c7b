// A span that has ended, as plain data: it travels from a worker to main, and there to the exporter.
import type { Attributes, HrTime, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it began the trace. */
  readonly parentId: string;
  /** The parent is in another process. */
  readonly remote: boolean;
  readonly name: string;
  readonly kind: SpanKind;
  readonly start: HrTime;
  readonly end: HrTime;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
  readonly events: readonly FinishedEvent[];
}

interface FinishedEvent {
  readonly name: string;
  readonly time: HrTime;
  readonly attributes: Attributes;
}

export function finishedOf(span: ReadableSpan): FinishedSpan {
  const { traceId, spanId } = span.spanContext();
  const { parentSpanContext, name, kind, startTime, endTime, status, attributes, events } = span;
  return {
    traceId,
    spanId,
    parentId: parentSpanContext?.spanId ?? '',
    remote: parentSpanContext?.isRemote === true,
    name,
    kind,
    start: startTime,
    end: endTime,
    status,
    attributes,
    events: events.map((event) => ({ name: event.name, time: event.time, attributes: event.attributes ?? {} })),
  };
}

/** Who says so, in every span: `scope` is the part of the program. */
export interface SpanOrigin {
  readonly resource: Resource;
  readonly scope: { readonly name: string; readonly version: string };
}

/** The other way round, for the exporter. */
export function readableOf(span: FinishedSpan, { resource, scope }: SpanOrigin): ReadableSpan {
  const { traceId, spanId, parentId, remote, name, kind, start, end, status, attributes, events } = span;
  const context: SpanContext = { traceId, spanId, traceFlags: 1 };
  return {
    name,
    kind,
    spanContext: () => context,
    ...(parentId !== '' && { parentSpanContext: { traceId, spanId: parentId, traceFlags: 1, isRemote: remote } }),
    startTime: start,
    endTime: end,
    duration: [0, 0],
    ended: true,
    status,
    attributes,
    links: [],
    events: [...events],
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}
