// The trace of an exchange that is not recorded: everybody behind is told so, and nothing else happens.

import { traceIdIn } from '../../telemetry/traces/trace-parent.ts';
import type { TraceFields } from '../message/upstream-stream.ts';
import type { ExchangeTrace, TracedCall } from './exchange-trace.ts';

export class UnrecordedTrace implements ExchangeTrace, TracedCall {
  readonly traceparent: string;
  readonly fields: TraceFields | undefined;

  /** Without `fields` the client's own lines pass. */
  constructor(traceparent: string, fields: TraceFields | undefined) {
    this.traceparent = traceparent;
    this.fields = fields;
  }

  get traceId(): string {
    return traceIdIn(this.traceparent);
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
