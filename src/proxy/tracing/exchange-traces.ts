// Begins the trace of each exchange: as a part of the one that the client names, or a new one. Whether it is recorded is
// decided here, so that a request that is not costs next to nothing.
import type { Clock } from '../../clock.ts';
import { parseTraceParent, type TraceParent } from '../../telemetry/traces/trace-parent.ts';
import type { Tracing } from '../../telemetry/traces/tracing.ts';
import { allValues, type FieldLines } from '../fields/field-lines.ts';
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
    const tracing = this.#tracing;
    const { lines } = request;
    const carried = lines.first('traceparent');
    const parent = carried === undefined ? undefined : parentIn(lines, carried);
    const start = tracing.begin(parent);
    if (start.sampled) {
      const replaced = parent === undefined ? staleIn(lines, carried) : ownField;
      return new RecordedTrace({ tracing, clock: this.#clock, start, request, replaced });
    }
    const traceparent = tracing.unrecorded(start);
    const fields = parent === undefined ? { traceparent, replaced: staleIn(lines, carried) } : undefined;
    return new UnrecordedTrace(traceparent, fields);
  }
}

const none: readonly string[] = [];
const ownField: readonly string[] = ['traceparent'];

/** Two of them are none (W3C Trace Context §4.3). */
const parentIn = (lines: FieldLines, carried: string): TraceParent | undefined =>
  allValues(lines, 'traceparent').length > 1 ? undefined : parseTraceParent(carried);

/** What a client says of a trace that nobody can follow ends here: its state belongs to no other. */
function staleIn(lines: FieldLines, carried: string | undefined): readonly string[] {
  if (lines.first('tracestate') !== undefined) return ['traceparent', 'tracestate'];
  return carried === undefined ? none : ownField;
}
