// Begins the trace of each exchange: as a part of the one that the client names, or a new one. Whether it is recorded is
// decided here, so that a request that is not costs next to nothing.

import { parseTraceParent, type TraceParent } from '../../telemetry/traces/trace-parent.ts';
import { isSampled, startOf, type Tracing } from '../../telemetry/traces/tracing.ts';
import type { Clock } from '../../util/clock.ts';
import { fieldId } from '../fields/field-name.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { ExchangeTrace } from './exchange-trace.ts';
import { RecordedTrace } from './recorded-trace.ts';
import { UnrecordedTrace } from './unrecorded-trace.ts';

export class ExchangeTraces {
  readonly #tracing: Tracing;
  readonly #clock: Clock;

  constructor(tracing: Tracing, clock: Clock) {
    this.#tracing = tracing;
    this.#clock = clock;
  }

  begin(request: ExchangeRequest): ExchangeTrace {
    const { lines } = request;
    for (let i = 0; i < lines.count; i++) if (lines.id(i) === fieldId.trace) return this.#continued(request, i);
    return this.#begun(request, none);
  }

  /** Begins the trace of a request with trace fields of the client. */
  #continued(request: ExchangeRequest, line: number): ExchangeTrace {
    const { lines } = request;
    let parents = 0;
    let carried = '';
    let states = false;
    for (let i = line; i < lines.count; i++) {
      if (lines.id(i) !== fieldId.trace) continue;
      if (lines.name(i).length !== 'traceparent'.length) states = true;
      else if (parents++ === 0) carried = lines.value(i);
    }
    // Two of them are none (W3C Trace Context §4.3).
    const parent = parents === 1 ? parseTraceParent(carried) : undefined;
    if (parent !== undefined) return this.#joined(request, parent);
    // State of an unreadable trace ends here: it belongs to no other trace.
    return this.#begun(request, states ? bothFields : ownField);
  }

  #joined(request: ExchangeRequest, parent: TraceParent): ExchangeTrace {
    const tracing = this.#tracing;
    const start = tracing.begin(parent);
    if (!start.sampled) return UnrecordedTrace.passing(tracing.unrecorded(start));
    return new RecordedTrace({ tracing, clock: this.#clock, start, request, replaced: ownField });
  }

  #begun(request: ExchangeRequest, replaced: readonly string[]): ExchangeTrace {
    const tracing = this.#tracing;
    const line = tracing.newTrace();
    if (!isSampled(line)) return new UnrecordedTrace(line, true, replaced);
    const start = startOf(line);
    return new RecordedTrace({ tracing, clock: this.#clock, start, request, replaced });
  }
}

const none: readonly string[] = [];
const ownField: readonly string[] = ['traceparent'];
const bothFields: readonly string[] = ['traceparent', 'tracestate'];
