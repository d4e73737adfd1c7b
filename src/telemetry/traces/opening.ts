// Loads OpenTelemetry's SDK, which costs a thread some 80 ms and 15 MB: a process that traces nothing never comes here.
import { randomFillSync } from 'node:crypto';
import { type FinishedSpan, finishedOf } from './finished-span.ts';
import { TraceIds } from './trace-ids.ts';
import { Tracing } from './tracing.ts';

/** Longest text of an attribute; the rest is cut off. */
const textMax = 512;

/** `onEnd` gets each span of a sampled trace once it has ended. */
export async function openTracing(sampleRatio: number, onEnd: (span: FinishedSpan) => void): Promise<Tracing> {
  const api = await import('@opentelemetry/api');
  const { AlwaysOnSampler, TracerProvider } = await import('@opentelemetry/sdk-trace');
  const { emptyResource } = await import('@opentelemetry/resources');
  const ids = new TraceIds(sampleRatio, randomFillSync);
  let rootId = '';
  const provider = new TracerProvider({
    // Said by whoever exports.
    resource: emptyResource(),
    sampler: new AlwaysOnSampler(),
    // The id by which it was decided that the trace is recorded.
    idGenerator: { generateTraceId: () => rootId, generateSpanId: () => ids.spanId() },
    spanLimits: { attributeValueLengthLimit: textMax },
    spanProcessors: [
      {
        onStart() {},
        onEnd: (span) => onEnd(finishedOf(span)),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  const tracer = provider.getTracer('sluice');
  return new Tracing({
    api,
    ids,
    startSpan(name, options, parent, traceId) {
      rootId = traceId;
      const context = parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, parent);
      return tracer.startSpan(name, options, context);
    },
  });
}
