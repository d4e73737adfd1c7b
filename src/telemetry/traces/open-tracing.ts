// Opens the traces of a thread. OpenTelemetry's interface is loaded here, and only where something is traced.
import { randomFillSync } from 'node:crypto';
import type { FinishedSpan } from './finished-span.ts';
import { RecordedSpan } from './recorded-span.ts';
import { TraceIds } from './trace-ids.ts';
import { Tracing } from './tracing.ts';

/** `onEnd` gets each span of a sampled trace once it has ended. */
export async function openTracing(sampleRatio: number, onEnd: (span: FinishedSpan) => void): Promise<Tracing> {
  const api = await import('@opentelemetry/api');
  const ids = new TraceIds(sampleRatio, randomFillSync);
  const traceFlags = api.TraceFlags.SAMPLED;
  const nowMs = (): number => performance.timeOrigin + performance.now();
  return new Tracing({
    api,
    ids,
    startSpan(name, kind, parent, traceId, startMs = nowMs()) {
      const context = { traceId, spanId: ids.spanId(), traceFlags };
      return new RecordedSpan({ name, kind, context, parent, startMs, nowMs, onEnd });
    },
  });
}
