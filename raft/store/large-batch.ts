// Batches of many megabytes on their way to LevelDB. Its binding copies each value twice in the thread that hands it over:
// for 32 MiB that holds a loop longer than a heartbeat may wait, so a thread does it that is made for the batch and ends
// with it. They are rare.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

import type { Operation } from './log-image.ts';

/** What the thread is given; undefined when there is nothing to write after all. */
export interface LargeWrite {
  /** Keys and values are plain arrays of bytes by the time they arrive. */
  readonly operations: readonly Operation[];
  readonly sync: boolean;
}

/** Of the thread's own heap: the values lie outside of it. */
const heapMiB = 32;
/** Below this a copy costs less than handing memory over. */
const handedOverBytes = 64 * 1024;

/** One batch: the thread starts at once, so that it is there when the batch is ready. `write` once, `end` in any case. */
export class LargeBatch {
  /** Resolves when the thread is gone. */
  readonly gone: Promise<void>;
  readonly #thread: Worker;
  #isWritten = false;
  #failure: Error | undefined;
  #code = 0;

  /** `location`: of a database that this process has open for several threads, and does not close before `gone`. */
  constructor(location: string) {
    const entry = new URL(`./batch-thread${extname(import.meta.url)}`, import.meta.url);
    this.#thread = new Worker(entry, {
      workerData: location,
      name: 'raft batch',
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
    });
    this.#thread.once('message', () => {
      this.#isWritten = true;
    });
    this.#thread.once('error', (error: unknown) => {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    });
    this.gone = new Promise((resolve) => {
      this.#thread.once('exit', (code) => {
        this.#code = code;
        resolve();
      });
    });
  }

  /**
   * Resolves when all is written (with `sync`: durable) and the thread is gone. Large values that have memory of their own
   * are handed over: the caller cannot read them any more.
   */
  async write(operations: readonly Operation[], sync: boolean): Promise<void> {
    this.#send({ operations, sync }, largeMemory(operations));
    await this.gone;
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#isWritten) throw new Error(`the thread of a large batch ended with code ${this.#code}`);
  }

  /** Without a `write` before it nothing is written. */
  end(): void {
    this.#send(undefined, []);
  }

  #send(write: LargeWrite | undefined, memory: ArrayBuffer[]): void {
    this.#thread.postMessage(write, memory);
  }
}

function largeMemory(operations: readonly Operation[]): ArrayBuffer[] {
  const memory: ArrayBuffer[] = [];
  for (const operation of operations) {
    if (operation.type === 'del' || operation.value.length < handedOverBytes) continue;
    const { buffer, length } = operation.value;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === length) memory.push(buffer);
  }
  return memory;
}
