// Threads of proxy workers, started ahead of their settings: they load their code while main loads
// its own and waits for the first configuration.
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { contents } from '../../../program/disk.ts';
import type { Threads } from './port.ts';
import type { WorkerStart } from './protocol.ts';

/**
 * Starts a thread of a proxy worker.
 *
 * @param start absent: it is the first message to the thread.
 * @param thread module of another program for the thread; tests have some.
 */
export function newThread(start: WorkerStart | undefined, thread?: URL): Worker {
  const options: WorkerOptions = {
    workerData: start,
    name: 'sluice proxy',
    // Larger ones are collected less often and for longer: new connections cost a tenth more CPU.
    resourceLimits: { maxYoungGenerationSizeMb: 12 },
  };
  return thread === undefined ? contents.newThread('proxy', options) : new Worker(thread, options);
}

export class ReadyThreads implements Threads {
  readonly #waiting = new Set<Worker>();

  constructor(count: number) {
    for (let place = 0; place < count; place++) {
      const worker = newThread(undefined);
      // A thread that waits for its start does not keep the process alive.
      worker.unref();
      const forget = (): void => void this.#waiting.delete(worker);
      worker.on('error', forget).on('exit', forget);
      this.#waiting.add(worker);
    }
  }

  /** Starts a worker on a ready thread, and on a new one when none is left. */
  start(start: WorkerStart): Worker {
    const [worker] = this.#waiting;
    if (worker === undefined) return newThread(start);
    this.#waiting.delete(worker);
    worker.removeAllListeners();
    worker.ref();
    worker.postMessage(start);
    return worker;
  }
}
