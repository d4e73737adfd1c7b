// Export of the traces of a process in its main thread: spans of all threads enter one queue and leave by one exporter.
// Loaded only where the settings name a collector, and OpenTelemetry with it.
import type { Clock } from '../../util/clock.ts';
import type { Logger } from '../logger.ts';
import { openTracing } from './open-tracing.ts';
import { SpanBatches } from './span-batches.ts';
import { exportRequestOf, type PackedSpans, type SpanOrigin } from './span-encoding.ts';
import { SpanQueue } from './span-queue.ts';
import type { Traces } from './traces.ts';
import { WorkTraces } from './work-traces.ts';

export interface TracesOptions {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sampleRatio: number;
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** Name of the node or proxy. */
  readonly instanceId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const postMsMax = 5_000;
const closeMsMax = 1_000;

export async function openTraces(options: TracesOptions): Promise<Traces> {
  const { sampleRatio, serviceName, serviceVersion, instanceId, clock, logger } = options;
  const exporter = await exporterOf(options, {
    resource: {
      'service.name': serviceName,
      'service.version': serviceVersion,
      'service.instance.id': instanceId,
    },
    scope: { name: 'sluice', version: serviceVersion },
  });
  const queue = new SpanQueue({
    clock,
    logger,
    send(spans, done) {
      exporter.export(spans, ({ error, code }) => done(code === 0 ? undefined : reasonOf(error)));
    },
  });
  const own = new SpanBatches(clock, (batch) => {
    queue.add(batch, batch.lost);
    own.taken();
  });
  const tracing = await openTracing(sampleRatio, (span) => own.add(span));
  return {
    sampleRatio,
    tracing,
    work: new WorkTraces(tracing, clock),
    take: (batch) => queue.add(batch, batch.lost),
    async close() {
      own.flush();
      await queue.close(closeMsMax);
      // Waits for posts that the queue has abandoned.
      void exporter.shutdown().catch(() => undefined);
    },
  };
}

/** OpenTelemetry's exporter for OTLP over HTTP, which retries; its spans are encoded already. */
async function exporterOf({ endpoint, headers }: TracesOptions, origin: SpanOrigin) {
  const { convertLegacyHttpOptions, createOtlpHttpExportDelegate } = await import(
    '@opentelemetry/otlp-exporter-base/node-http'
  );
  const config = { url: endpoint, headers: { ...headers }, timeoutMillis: postMsMax };
  return createOtlpHttpExportDelegate<readonly PackedSpans[], object>(
    convertLegacyHttpOptions(config, 'TRACES', 'v1/traces', { 'Content-Type': 'application/x-protobuf' }),
    { serializeRequest: (spans) => exportRequestOf(origin, spans), deserializeResponse: () => ({}) },
    'otlp_http_span_exporter',
    { name: 'span', countItems: (spans) => spans.reduce((sum, { count }) => sum + count, 0) },
    undefined,
  );
}

/** Reason of an error: its text, or its codes where several addresses of one name failed. */
const reasonOf = (error: (Error & { readonly code?: string | number }) | undefined): string =>
  [error?.message, error?.code].filter((each) => each !== undefined && each !== '').join(' ') || 'unknown';
