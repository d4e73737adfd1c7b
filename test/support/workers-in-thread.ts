// Workers on channels within the calling thread: the same messages as between threads, with a clock that a test moves
// and traces that it reads.
import { MessageChannel } from 'node:worker_threads';
import type { Port, Threads } from '../../src/proxy/worker/port.ts';
import type { WorkerStart } from '../../src/proxy/worker/protocol.ts';
import { serveWorker } from '../../src/proxy/worker/worker-server.ts';
import { SpanBatches } from '../../src/telemetry/traces/span-batches.ts';
import type { Traces } from '../../src/telemetry/traces/traces.ts';
import type { Clock } from '../../src/util/clock.ts';

export class WorkersInThread implements Threads {
  readonly #clock: Clock;
  readonly #traces: Traces | undefined;
  readonly #serve: typeof serveWorker;

  /** @param serve that of another tree, for a comparison with it */
  constructor(clock: Clock, traces?: Traces, serve = serveWorker) {
    this.#clock = clock;
    this.#traces = traces;
    this.#serve = serve;
  }

  start(start: WorkerStart): Port {
    const { port1: near, port2: far } = new MessageChannel();
    const clock = this.#clock;
    const tools = { clock, tracing: this.#traces?.tracing, spans: new SpanBatches(clock, () => {}) };
    far.on('message', this.#serve(far, start, tools));
    return {
      postMessage: (message, transfer = []) => near.postMessage(message, [...transfer]),
      on: (event: string, take: (value: never) => void) =>
        near.on(event === 'exit' ? 'close' : event, take as () => void),
    };
  }
}
