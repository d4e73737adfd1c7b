// Spans of work on the main thread: requests to the API, writes, installs. The active span follows promises and timers, so
// that work for a request becomes its child without an argument.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, SpanContext } from '@opentelemetry/api';
import type { Clock } from '../../util/clock.ts';
import type { RecordingSpan } from './recorded-span.ts';
import { parseTraceParent, type TraceParent } from './trace-parent.ts';
import { type SpanRole, type Tracing, traceParentOf } from './tracing.ts';

/** Span of work that is under way. An unrecorded one still has a `traceparent` for requests on its behalf. */
export interface WorkSpan {
  /** Context of the span; undefined where it is not recorded. */
  readonly context: SpanContext | undefined;
  /** Value of `traceparent` for requests on behalf of the span. */
  readonly traceparent: string;
  rename(name: string): void;
  setAttributes(attributes: Attributes): void;
  /** Ends the span, once. `failure`: of low cardinality; empty on success. */
  end(failure?: string): void;
}

/** Number of activations whose origin is kept, for the installs a moment later. */
const originsMax = 16;

export class WorkTraces {
  readonly #tracing: Tracing;
  readonly #clock: Clock;
  readonly #active = new AsyncLocalStorage<WorkSpan>();
  readonly #origins = new Map<number, WorkSpan>();

  constructor(tracing: Tracing, clock: Clock) {
    this.#tracing = tracing;
    this.#clock = clock;
  }

  /** Begins a span on behalf of another process; without `parent` it begins a trace. */
  enter(role: SpanRole, name: string, parent: TraceParent | undefined): WorkSpan {
    const start = this.#tracing.begin(parent);
    if (!start.sampled) return new Unrecorded(this.#tracing.unrecorded(start));
    const startMs = this.#nowMs(this.#clock.monotonicMs());
    return new Recorded(this.#tracing.enter(start, role, name, startMs), this.#tracing, () =>
      this.#nowMs(this.#clock.monotonicMs()),
    );
  }

  /** Begins a child of `parent`, or of the active span. */
  begin(role: SpanRole, name: string, attributes: Attributes = {}, parent = this.#active.getStore()): WorkSpan {
    if (parent === undefined) {
      const root = this.enter(role, name, undefined);
      root.setAttributes(attributes);
      return root;
    }
    if (parent.context === undefined) return parent instanceof Unrecorded ? parent : new Unrecorded(parent.traceparent);
    return this.#child(parent.context, role, name, attributes, this.#clock.monotonicMs());
  }

  /** Records a span of work that is done. Times are monotonic milliseconds. */
  record(parent: WorkSpan, name: string, attributes: Attributes, fromMs: number, untilMs: number): void {
    if (parent.context === undefined) return;
    this.#child(parent.context, 'internal', name, attributes, fromMs, untilMs).end();
  }

  /** Returns the span of another process by its `traceparent`, as a parent alone. Undefined for a malformed one. */
  elsewhere(traceparent: string): WorkSpan | undefined {
    const parent = typeof traceparent === 'string' ? parseTraceParent(traceparent) : undefined;
    return parent && new Elsewhere(traceparent, parent);
  }

  get current(): WorkSpan | undefined {
    return this.#active.getStore();
  }

  /** Calls `run` with the span as the active one, for its asynchronous continuations too. */
  run<T>(span: WorkSpan, run: () => T): T {
    return this.#active.run(span, run);
  }

  /** Sets the span that activated the configuration with the index. */
  setOrigin(index: number, span: WorkSpan): void {
    this.#origins.set(index, span);
    const [oldest] = this.#origins.keys();
    if (this.#origins.size > originsMax && oldest !== undefined) this.#origins.delete(oldest);
  }

  originOf(index: number): WorkSpan | undefined {
    return this.#origins.get(index);
  }

  #child(
    parent: SpanContext,
    role: SpanRole,
    name: string,
    attributes: Attributes,
    fromMs: number,
    untilMs?: number,
  ): WorkSpan {
    const span = this.#tracing.child(parent, role, name, this.#nowMs(fromMs));
    span.setAttributes(attributes);
    return new Recorded(span, this.#tracing, () => this.#nowMs(untilMs ?? this.#clock.monotonicMs()));
  }

  /** Unix milliseconds with fractions. */
  #nowMs(monotonicMs: number): number {
    return this.#clock.nowMs() - this.#clock.monotonicMs() + monotonicMs;
  }
}

class Recorded implements WorkSpan {
  readonly context: SpanContext;
  readonly traceparent: string;
  readonly #span: RecordingSpan;
  readonly #tracing: Tracing;
  readonly #endMs: () => number;
  #over = false;

  constructor(span: RecordingSpan, tracing: Tracing, endMs: () => number) {
    this.context = span.spanContext();
    this.traceparent = traceParentOf(span);
    this.#span = span;
    this.#tracing = tracing;
    this.#endMs = endMs;
  }

  rename(name: string): void {
    if (!this.#over) this.#span.updateName(name);
  }

  setAttributes(attributes: Attributes): void {
    if (!this.#over) this.#span.setAttributes(attributes);
  }

  end(failure = ''): void {
    if (this.#over) return;
    this.#over = true;
    if (failure !== '') this.#tracing.fail(this.#span, failure);
    this.#span.end(this.#endMs());
  }
}

class Elsewhere implements WorkSpan {
  readonly context: SpanContext | undefined;
  readonly traceparent: string;

  constructor(traceparent: string, { traceId, parentId, sampled }: TraceParent) {
    this.traceparent = traceparent;
    this.context = sampled ? { traceId, spanId: parentId, traceFlags: 1, isRemote: true } : undefined;
  }

  rename(): void {}

  setAttributes(): void {}

  end(): void {}
}

class Unrecorded implements WorkSpan {
  readonly context = undefined;
  readonly traceparent: string;

  constructor(traceparent: string) {
    this.traceparent = traceparent;
  }

  rename(): void {}

  setAttributes(): void {}

  end(): void {}
}
