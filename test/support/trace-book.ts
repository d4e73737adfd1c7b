// Traces without a collector: spans are kept as they end.

import { type FinishedSpan } from '../../src/telemetry/traces/finished-span.ts';
import { openTracing } from '../../src/telemetry/traces/open-tracing.ts';
import type { Traces } from '../../src/telemetry/traces/traces.ts';
import { WorkTraces } from '../../src/telemetry/traces/work-traces.ts';
import { systemClock } from '../../src/util/clock.ts';
import { eventually } from './eventually.ts';

export interface TraceBook extends Traces {
  readonly spans: FinishedSpan[];
  /** Spans that have begun and not ended. */
  readonly open: number;
  /** Resolves once so many spans of requests, which end last, have ended. */
  served(requests: number): Promise<readonly FinishedSpan[]>;
}

const server = 1;

export async function traceBook(sampleRatio: number): Promise<TraceBook> {
  const spans: FinishedSpan[] = [];
  const tracing = await openTracing(sampleRatio, (span) => spans.push(span));
  let begun = 0;
  const { enter, child } = tracing;
  tracing.enter = (...given) => {
    begun++;
    return enter.apply(tracing, given);
  };
  tracing.child = (...given) => {
    begun++;
    return child.apply(tracing, given);
  };
  return {
    sampleRatio,
    tracing,
    // Of installs and the like nothing is kept.
    work: new WorkTraces(await openTracing(0, () => {}), systemClock),
    // The bed has no workers.
    take: () => {},
    close: async () => {},
    spans,
    get open() {
      return begun - spans.length;
    },
    served: (requests) =>
      eventually(() => {
        const ended = spans.filter(({ kind }) => kind === server).length;
        if (ended < requests) throw new Error(`${ended} of ${requests} requests have a span`);
        return spans;
      }),
  };
}

/** A span as a line: what it is, whose child, how it ended. */
export function outline(spans: readonly FinishedSpan[]): string[] {
  const nameOf = (id: string): string =>
    spans.find(({ spanId }) => spanId === id)?.name ?? (id === '' ? 'none' : 'away');
  return spans.map(
    ({ kind, name, parentId, attributes, status }) =>
      `${['internal', 'server', 'client'][kind]} ${name} < ${nameOf(parentId)}: ` +
      [attributes['http.response.status_code'], attributes['error.type'], status.code === 2 ? 'failed' : 'well']
        .filter((each) => each !== undefined)
        .join(' '),
  );
}
