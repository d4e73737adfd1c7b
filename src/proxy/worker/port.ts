// Port of a worker in main: a thread of its own, or a worker on a channel within the calling thread, as tests have.
import type { FromWorker, ToWorker, WorkerStart } from './protocol.ts';

export interface Port {
  postMessage(message: ToWorker, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', take: (message: FromWorker) => void): unknown;
  /** The worker has thrown, and ends. */
  on(event: 'error', take: (error: Error) => void): unknown;
  /** The worker has ended; nothing comes after it. */
  on(event: 'exit', take: (code: number) => void): unknown;
}

/** Starter of workers. */
export interface Threads {
  start(start: WorkerStart): Port;
}
