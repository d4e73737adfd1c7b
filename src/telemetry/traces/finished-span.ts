// A span that has ended, as plain data.
import type { Attributes, AttributeValue, HrTime, SpanKind, SpanStatus } from '@opentelemetry/api';

export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Id of the parent; empty for the first span of a trace. */
  readonly parentId: string;
  /** True where the parent is in another process. */
  readonly remote: boolean;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly status: SpanStatus;
  /** Keys of its attributes in the order in which they were set; `values` are parallel to them. */
  readonly keys: readonly string[];
  readonly values: readonly AttributeValue[];
  /** Attributes as a new object. */
  readonly attributes: Attributes;
  readonly events: readonly FinishedEvent[];
  /** Number of events that were dropped at the limit. */
  readonly droppedEvents: number;
}

export interface FinishedEvent {
  readonly name: string;
  readonly time: HrTime;
  readonly attributes: Attributes;
}
