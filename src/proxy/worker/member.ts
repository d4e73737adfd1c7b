// One proxy worker as main sees it: what main asks of it, and what it answers.
import { Worker } from 'node:worker_threads';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { LineBatch } from '../access-log/line-batches.ts';
import type { BusyPlace, ListenerStatus } from '../listener/listeners.ts';
import type { PackedConfig } from './packed-config.ts';
import type { FromWorker, ToWorker, WorkerStart } from './protocol.ts';

/** What a worker says of its own accord. */
export interface MemberHears {
  fall(): void;
  keysWanted(id: string): void;
  lines(batch: LineBatch): void;
}

/** What is asked of a worker that falls counts as done: its place in the set is filled anew. */
export class Member {
  /** Absent before its first commit, and when it has ended. */
  listeners: readonly ListenerStatus[] | undefined;
  readonly #worker: Worker;
  readonly #telemetry: Telemetry;
  readonly #hears: MemberHears;
  #prepared: ((veto: string | undefined) => void) | undefined;
  #settled: (() => void) | undefined;
  #closed: (() => void) | undefined;
  #over = false;

  constructor(thread: URL, start: WorkerStart, telemetry: Telemetry, hears: MemberHears) {
    this.#telemetry = telemetry;
    this.#hears = hears;
    this.#worker = new Worker(thread, {
      workerData: start,
      name: 'sluice proxy',
      resourceLimits: { maxYoungGenerationSizeMb: 32 },
    });
    this.#worker.on('message', (message: FromWorker) => this.#hear(message));
    this.#worker.on('error', (error: Error) =>
      telemetry.logger.error({ reason: error.message }, 'a proxy worker fails'),
    );
    this.#worker.on('exit', (code) => this.#onExit(code));
  }

  say(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  prepare(generation: number, config: PackedConfig): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#prepared = resolve;
      if (this.#over) resolve(undefined);
      else this.say({ type: 'prepare', generation, config });
    });
  }

  commit(generation: number, busy: readonly BusyPlace[]): Promise<void> {
    return new Promise((resolve) => {
      this.#settled = resolve;
      if (this.#over) resolve();
      else this.say({ type: 'commit', generation, busy });
    });
  }

  close(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#closed = resolve;
      if (this.#over) resolve();
      else this.say({ type: 'close', withinMs });
    });
  }

  #hear(message: FromWorker): void {
    const { logger } = this.#telemetry;
    if (message.type === 'prepared') this.#prepared?.(message.veto);
    else if (message.type === 'log') logger[message.level](message.fields, message.message);
    else if (message.type === 'crashed')
      logger.error({ request: message.request, stack: message.stack }, 'a proxy worker falls over a request');
    else if (message.type === 'settled') {
      this.listeners = message.listeners;
      this.#settled?.();
    } else if (message.type === 'keysWanted') this.#hears.keysWanted(message.id);
    else if (message.type === 'lines') this.#hears.lines(message.batch);
  }

  #onExit(code: number): void {
    this.#over = true;
    this.listeners = undefined;
    this.#prepared?.(undefined);
    this.#settled?.();
    this.#closed?.();
    if (this.#closed !== undefined) return;
    this.#telemetry.logger.error({ code }, 'a proxy worker has ended and is replaced');
    this.#hears.fall();
  }
}
