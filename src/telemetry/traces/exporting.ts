// The traces of a process in its main thread: spans of all threads end in one queue and go out by one exporter. Loaded
// only where the settings name a collector, and OpenTelemetry with it.
import type { Clock } from '../../clock.ts';
import type { Logger } from '../logger.ts';
import { readableOf, type SpanOrigin } from './finished-span.ts';
import { openTracing } from './opening.ts';
import { SpanQueue } from './span-queue.ts';
import type { Traces } from './traces.ts';
import { WorkTraces } from './work-traces.ts';

export interface TracesOptions {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sampleRatio: number;
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** Node or proxy. */
  readonly instanceId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const postMsMax = 5_000;
const closeMsMax = 1_000;

export async function openTraces(options: TracesOptions): Promise<Traces> {
  const { endpoint, headers, sampleRatio, serviceName, serviceVersion, instanceId, clock, logger } = options;
  const [{ OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const exporter = new OTLPTraceExporter({ url: endpoint, headers: { ...headers }, timeoutMillis: postMsMax });
  const origin: SpanOrigin = {
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': serviceVersion,
      'service.instance.id': instanceId,
    }),
    scope: { name: 'sluice', version: serviceVersion },
  };
  const queue = new SpanQueue({
    clock,
    logger,
    send(spans, done) {
      const readable = spans.map((span) => readableOf(span, origin));
      exporter.export(readable, ({ error, code }) => done(code === 0 ? undefined : reasonOf(error)));
    },
  });
  const tracing = await openTracing(sampleRatio, (span) => queue.add([span]));
  return {
    sampleRatio,
    tracing,
    work: new WorkTraces(tracing, clock),
    take: ({ spans, lost }) => queue.add(spans, lost),
    async close() {
      await queue.close(closeMsMax);
      // Waits for posts that the queue has given up.
      void exporter.shutdown().catch(() => undefined);
    },
  };
}

/** Several addresses of one name fail with no text but their codes. */
const reasonOf = (error: (Error & { readonly code?: string | number }) | undefined): string =>
  [error?.message, error?.code].filter((each) => each !== undefined && each !== '').join(' ') || 'unknown';
