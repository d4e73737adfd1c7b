// A span that has ended, as plain data.
import type { Attributes, HrTime, SpanKind, SpanStatus } from '@opentelemetry/api';
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
