// Threads of proxy workers, begun before anything is known of what they are to do: they load their code while main loads
// its own and waits for the first configuration.
import { Worker } from 'node:worker_threads';
import type { WorkerStart } from './protocol.ts';

/** Keeps what V8 compiles, then runs thread.ts. */
const entry = new URL(`./begin.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/** @param start absent: it is the first message to the thread. */
export const newThread = (start: WorkerStart | undefined, thread = entry): Worker =>
  new Worker(thread, {
    workerData: start,
    name: 'sluice proxy',
    // Larger ones are collected less often and for longer: new connections cost a tenth more CPU.
    resourceLimits: { maxYoungGenerationSizeMb: 12 },
  });

export class ReadyThreads {
  readonly #waiting = new Set<Worker>();

  constructor(count: number) {
    for (let place = 0; place < count; place++) {
      const worker = newThread(undefined);
      // It keeps no process alive that ends before it begins.
      worker.unref();
      const forget = (): void => void this.#waiting.delete(worker);
      worker.on('error', forget).on('exit', forget);
      this.#waiting.add(worker);
    }
  }

  /** One that is told what to do; undefined when none is left. */
  take(start: WorkerStart): Worker | undefined {
    const [worker] = this.#waiting;
    if (worker === undefined) return undefined;
    this.#waiting.delete(worker);
    worker.removeAllListeners();
    worker.ref();
    worker.postMessage(start);
    return worker;
  }
}
