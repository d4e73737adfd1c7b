// Thread of a proxy worker. Started only by ready-threads.ts.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { measureThread } from '../../telemetry/thread-vitals.ts';
import { SpanBatches } from '../../telemetry/traces/span-batches.ts';
import type { Tracing } from '../../telemetry/traces/tracing.ts';
import { systemClock } from '../../util/clock.ts';
import { currentRequest } from '../message/request-view.ts';
import type { FromWorker, ToWorker, WorkerStart } from './protocol.ts';
import { chooseSockets } from './socket-choice.ts';
import { serveWorker } from './worker-server.ts';

if (parentPort === null) throw new Error('a proxy worker is a thread of its own');
const spans = new SpanBatches(systemClock, (batch) =>
  parentPort?.postMessage({ type: 'spans', batch } satisfies FromWorker, [batch.bytes.buffer]),
);
/** Messages that main posts before this thread can execute them. */
const early: ToWorker[] = [];
const enqueue = (message: ToWorker): void => void early.push(message);
void begin(parentPort);

async function begin(port: MessagePort): Promise<void> {
  const start: WorkerStart = workerData ?? (await firstMessage(port));
  const tracing = await tracingOf(start);
  chooseSockets(start.settings.sockets);
  measureThread(start.vitals, systemClock);
  const onMessage = serveWorker(port, start, { clock: systemClock, tracing, spans });
  port.on('message', onMessage);
  port.off('message', enqueue);
  for (const message of early.splice(0)) onMessage(message);
  process.on('uncaughtException', (error) => {
    const stack = error.stack ?? error.message;
    port.postMessage({ type: 'crashed', request: currentRequest(), stack } satisfies FromWorker);
    setImmediate(() => process.exit(1));
  });
}

/** Returns the start message of a thread that was started ahead of its settings. */
function firstMessage(port: MessagePort): Promise<WorkerStart> {
  return new Promise((resolve) => {
    port.once('message', (start: WorkerStart) => {
      port.on('message', enqueue);
      resolve(start);
    });
  });
}

/** OpenTelemetry's interface is loaded for it. */
async function tracingOf({ traceRatio }: WorkerStart): Promise<Tracing | undefined> {
  if (traceRatio === undefined) return undefined;
  const { openTracing } = await import('../../telemetry/traces/open-tracing.ts');
  return openTracing(traceRatio, (span) => spans.add(span));
}
