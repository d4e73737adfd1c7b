// Spans of what the main thread does: requests to the API, writes, installs. What is done on behalf of a request becomes
// its child without being handed it, for the span follows promises and timers.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, SpanContext } from '@opentelemetry/api';
import type { Clock } from '../../util/clock.ts';
import type { RecordingSpan } from './recorded-span.ts';
import { parseTraceParent, type TraceParent } from './trace-parent.ts';
import { type SpanRole, type Tracing, traceParentOf } from './tracing.ts';

/** Something that is being done. Where its trace is not recorded, it still has what others are told of it. */
export interface WorkSpan {
  /** Undefined: it is not recorded. */
  readonly context: SpanContext | undefined;
  /** Value of `traceparent` for requests on behalf of the span. */
  readonly traceparent: string;
  rename(name: string): void;
  tell(attributes: Attributes): void;
  /** Once. `failure`: of few different values; empty when nothing went wrong. */
  end(failure?: string): void;
}

/** Activations whose origin is remembered, for those who install them a moment later. */
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

  /** On behalf of `parent`, or of what is being done now. */
  begin(role: SpanRole, name: string, attributes: Attributes = {}, parent = this.#active.getStore()): WorkSpan {
    if (parent === undefined) {
      const root = this.enter(role, name, undefined);
      root.tell(attributes);
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

  /** A span of another process, by its `traceparent`: nothing more can be told of it. Undefined for what is none. */
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

  /** The configuration with that index is there because of the span. */
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

  /** Unix time with fractions. */
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

  tell(attributes: Attributes): void {
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

  tell(): void {}

  end(): void {}
}

class Unrecorded implements WorkSpan {
  readonly context = undefined;
  readonly traceparent: string;

  constructor(traceparent: string) {
    this.traceparent = traceparent;
  }

  rename(): void {}

  tell(): void {}

  end(): void {}
}
