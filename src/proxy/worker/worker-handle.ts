// One proxy worker as main sees it: requests of main to it, and its answers.
import type { Worker } from 'node:worker_threads';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { LineBatch } from '../access-log/line-batches.ts';
import type { BusyPlace, ListenerStatus } from '../listener/listeners.ts';
import type { Collected } from '../metrics/families.ts';
import type { SeriesReader } from '../metrics/metric-block.ts';
import type { ListenerMemory } from '../shared/listener-loads.ts';
import { sound, type Verdict } from './install-verdict.ts';
import type { FromWorker, PackedChange, ToWorker } from './protocol.ts';

/** Events that a worker reports on its own. */
export interface MemberHears {
  fall(): void;
  keysWanted(id: string): void;
  lines(batch: LineBatch): void;
}

/** Reader of the metrics of the worker. */
export interface CountingReader extends SeriesReader {
  /** Text of everything that was counted on a listener, by all workers. */
  expose(listener: string, collected: Collected): Promise<Uint8Array<ArrayBuffer>>;
}

/** Handle of a worker. Requests to a worker that crashes count as done: its place in the set is filled anew. */
export class Member {
  /** Absent before its first commit, and when it has ended. */
  listeners: readonly ListenerStatus[] | undefined;
  readonly #worker: Worker;
  readonly #telemetry: Telemetry;
  readonly #hears: MemberHears;
  readonly #counting: CountingReader;
  readonly #tellings = new Map<number, () => void>();
  #tellingId = 0;
  #prepared: ((verdict: Verdict) => void) | undefined;
  #settled: (() => void) | undefined;
  #closed: (() => void) | undefined;
  #over = false;

  constructor(worker: Worker, telemetry: Telemetry, counting: CountingReader, hears: MemberHears) {
    this.#counting = counting;
    this.#telemetry = telemetry;
    this.#hears = hears;
    this.#worker = worker;
    this.#worker.on('message', (message: FromWorker) => this.#hear(message));
    this.#worker.on('error', (error: Error) =>
      telemetry.logger.error({ reason: error.message }, 'a proxy worker fails'),
    );
    this.#worker.on('exit', (code) => this.#onExit(code));
  }

  say(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  /** True when the worker has ended. */
  get fallen(): boolean {
    return this.#over;
  }

  prepare(generation: number, change: PackedChange): Promise<Verdict> {
    return new Promise((resolve) => {
      this.#prepared = resolve;
      if (this.#over) resolve(sound);
      else this.say({ type: 'prepare', generation, ...change });
    });
  }

  commit(generation: number, busy: readonly BusyPlace[], memory: ListenerMemory): Promise<void> {
    return new Promise((resolve) => {
      this.#settled = resolve;
      if (this.#over) resolve();
      else this.say({ type: 'commit', generation, busy, memory });
    });
  }

  /** Resolves when main knows what everything means that the worker has counted so far. */
  tell(): Promise<void> {
    return new Promise((resolve) => {
      const id = ++this.#tellingId;
      this.#tellings.set(id, resolve);
      if (this.#over) this.#told();
      else this.say({ type: 'tell', id });
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
    if (message.type === 'prepared') this.#prepared?.(message.verdict);
    else if (message.type === 'log') logger[message.level](message.fields, message.message);
    else if (message.type === 'crashed')
      logger.error({ request: message.request, stack: message.stack }, 'a proxy worker falls over a request');
    else if (message.type === 'series') this.#counting.define(message.series);
    else if (message.type === 'forgotten') this.#counting.forget(message.listener);
    else if (message.type === 'told') this.#told(message.id);
    else if (message.type === 'scrape') void this.#expose(message);
    else if (message.type === 'settled') {
      this.listeners = message.listeners;
      this.#settled?.();
    } else if (message.type === 'keysWanted') this.#hears.keysWanted(message.id);
    else if (message.type === 'lines') this.#hears.lines(message.batch);
    else if (message.type === 'spans') {
      this.#telemetry.traces?.take(message.batch);
      this.say({ type: 'spansTaken' });
    }
  }

  async #expose({ id, listener, collected }: Extract<FromWorker, { type: 'scrape' }>): Promise<void> {
    const text = await this.#counting.expose(listener, collected);
    if (!this.#over) this.#worker.postMessage({ type: 'exposition', id, text } satisfies ToWorker, [text.buffer]);
  }

  #told(id?: number): void {
    for (const [each, done] of this.#tellings) {
      if (id !== undefined && each !== id) continue;
      this.#tellings.delete(each);
      done();
    }
  }

  #onExit(code: number): void {
    this.#over = true;
    this.#told();
    this.listeners = undefined;
    this.#prepared?.(sound);
    this.#settled?.();
    this.#closed?.();
    if (this.#closed !== undefined) return;
    this.#telemetry.logger.error({ code }, 'a proxy worker has ended and is replaced');
    this.#hears.fall();
  }
}
