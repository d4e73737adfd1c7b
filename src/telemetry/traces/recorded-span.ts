// Recorded span of a sampled trace, behind OpenTelemetry's interface. The hot path makes one for each part of a recorded
// request: attributes go into a list, which is read only when the span is encoded. The SDK's span took most of the time of
// a recorded request.
import type { Attributes, AttributeValue, HrTime, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';
import type { FinishedEvent, FinishedSpan } from './finished-span.ts';

/** Used part of OpenTelemetry's `Span`. Times are Unix milliseconds with fractions; now when absent. */
export interface RecordingSpan {
  spanContext(): SpanContext;
  setAttribute(key: string, value: AttributeValue): unknown;
  setAttributes(attributes: Attributes): unknown;
  addEvent(name: string, attributes: Attributes, timeMs?: number): unknown;
  setStatus(status: SpanStatus): unknown;
  updateName(name: string): unknown;
  end(timeMs?: number): void;
}

export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly startMs: number;
  readonly nowMs: () => number;
  /** Called once, at the end of the span. */
  readonly onEnd: (span: FinishedSpan) => void;
}

/** Longest text of an attribute; longer ones are truncated. */
const textMax = 512;
const eventsMax = 128;

export class RecordedSpan implements FinishedSpan, RecordingSpan {
  readonly kind: SpanKind;
  readonly parentId: string;
  readonly remote: boolean;
  readonly startTime: HrTime;
  readonly keys: string[] = [];
  readonly values: AttributeValue[] = [];
  readonly events: FinishedEvent[] = [];
  name: string;
  endTime: HrTime;
  status: SpanStatus = { code: 0 };
  droppedEvents = 0;
  readonly #context: SpanContext;
  readonly #startMs: number;
  readonly #nowMs: () => number;
  readonly #onEnd: (span: FinishedSpan) => void;
  #over = false;

  constructor({ name, kind, context, parent, startMs, nowMs, onEnd }: SpanStart) {
    this.name = name;
    this.kind = kind;
    this.parentId = parent?.spanId ?? '';
    this.remote = parent?.isRemote === true;
    this.startTime = timeOf(startMs);
    this.endTime = this.startTime;
    this.#context = context;
    this.#startMs = startMs;
    this.#nowMs = nowMs;
    this.#onEnd = onEnd;
  }

  get traceId(): string {
    return this.#context.traceId;
  }

  get spanId(): string {
    return this.#context.spanId;
  }

  get attributes(): Attributes {
    return Object.fromEntries(this.keys.map((key, at) => [key, this.values[at]]));
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  setAttribute(key: string, value: AttributeValue): this {
    if (this.#over) return this;
    const known = this.keys.indexOf(key);
    const at = known < 0 ? this.keys.push(key) - 1 : known;
    this.values[at] = bounded(value);
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const key in attributes) {
      const value = attributes[key];
      if (value !== undefined) this.setAttribute(key, value);
    }
    return this;
  }

  addEvent(name: string, attributes: Attributes, timeMs = this.#nowMs()): this {
    if (this.#over) return this;
    if (this.events.length >= eventsMax) {
      this.droppedEvents++;
      return this;
    }
    this.events.push({ name, time: timeOf(timeMs), attributes });
    return this;
  }

  setStatus(status: SpanStatus): this {
    if (!this.#over) this.status = status;
    return this;
  }

  updateName(name: string): this {
    if (!this.#over) this.name = name;
    return this;
  }

  end(timeMs = this.#nowMs()): void {
    if (this.#over) return;
    this.#over = true;
    // A clock that was set back ends no span before its beginning.
    this.endTime = timeOf(Math.max(this.#startMs, timeMs));
    this.#onEnd(this);
  }
}

/** Time as seconds and nanoseconds. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}

const bounded = (value: AttributeValue): AttributeValue =>
  typeof value === 'string' && value.length > textMax ? value.slice(0, textMax) : value;
