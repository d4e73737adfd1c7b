// Trace of an exchange that is not recorded: upstreams and services are told so, and nothing else happens. Nearly every
// exchange has it, so one object serves as the trace, its calls and their fields.
import { lineOf, traceIdIn, traceParentIn } from '../../telemetry/traces/trace-parent.ts';
import type { TraceFields } from '../message/upstream-stream.ts';
import type { ExchangeTrace, TracedCall } from './exchange-trace.ts';

export class UnrecordedTrace implements ExchangeTrace, TracedCall, TraceFields {
  readonly line: string;
  readonly replaced: readonly string[];
  readonly #own: boolean;

  /** `own`: its trace begins here. Else the client's own lines pass. */
  constructor(line: string, own: boolean, replaced: readonly string[]) {
    this.line = line;
    this.replaced = replaced;
    this.#own = own;
  }

  static passing(traceparent: string): UnrecordedTrace {
    return new UnrecordedTrace(lineOf(traceparent), false, []);
  }

  get traceparent(): string {
    return traceParentIn(this.line);
  }

  get traceId(): string {
    return traceIdIn(this.traceparent);
  }

  get fields(): TraceFields | undefined {
    return this.#own ? this : undefined;
  }

  get unrecorded(): this {
    return this;
  }

  matched(): void {}

  beginAttempt(): TraceFields | undefined {
    return this.fields;
  }

  responded(): void {}

  endAttempt(): void {}

  copy(): TracedCall {
    return this;
  }

  ask(): TracedCall {
    return this;
  }

  end(): void {}

  answered(): void {}

  finish(): void {}
}
