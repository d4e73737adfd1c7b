// One proxy worker as main sees it: requests of main to it, and its answers.
import type { Telemetry } from '../../telemetry/logger.ts';
import type { LineBatch } from '../access-log/line-batches.ts';
import type { FoundMismatch } from '../exchange/verdict.ts';
import type { WantedLease } from '../lease/wanted-lease.ts';
import type { BusyPlace, ListenerStatus } from '../listener/listeners.ts';
import type { Collected } from '../metrics/families.ts';
import type { SeriesReader } from '../metrics/metric-block.ts';
import type { FoundExample } from '../shadow/example-log.ts';
import type { ListenerMemory } from '../shared/listener-loads.ts';
import type { Port } from './port.ts';
import { type PrepareResult, prepared } from './prepare-result.ts';
import type { FromWorker, PackedChange, ToWorker } from './protocol.ts';

/** Events that a worker reports on its own. */
export interface WorkerEvents {
  crash(): void;
  keysWanted(id: string): void;
  leaseWanted(wanted: WantedLease): void;
  lines(batch: LineBatch): void;
  mismatch(mismatch: FoundMismatch): void;
  example(example: FoundExample): void;
}

/** Reader of the metrics of the worker. */
export interface CountingReader extends SeriesReader {
  /** Text of everything that was counted on a listener, by all workers. */
  expose(listener: string, collected: Collected): Promise<Uint8Array<ArrayBuffer>>;
}

/** Handle of a worker. Requests to a worker that crashes count as done: its place in the set is filled anew. */
export class WorkerHandle {
  /** Absent before its first commit, and when it has ended. */
  listeners: readonly ListenerStatus[] | undefined;
  readonly #port: Port;
  readonly #telemetry: Telemetry;
  readonly #events: WorkerEvents;
  readonly #counting: CountingReader;
  readonly #syncs = new Map<number, () => void>();
  #syncId = 0;
  #prepared: ((result: PrepareResult) => void) | undefined;
  #settled: (() => void) | undefined;
  #closed: (() => void) | undefined;
  #ended = false;

  constructor(port: Port, telemetry: Telemetry, counting: CountingReader, events: WorkerEvents) {
    this.#counting = counting;
    this.#telemetry = telemetry;
    this.#events = events;
    this.#port = port;
    this.#port.on('message', (message) => this.#onMessage(message));
    this.#port.on('error', (error) => telemetry.logger.error({ reason: error.message }, 'a proxy worker fails'));
    this.#port.on('exit', (code) => this.#onExit(code));
  }

  post(message: ToWorker): void {
    this.#port.postMessage(message);
  }

  /** True when the worker has ended. */
  get crashed(): boolean {
    return this.#ended;
  }

  prepare(generation: number, change: PackedChange): Promise<PrepareResult> {
    return new Promise((resolve) => {
      this.#prepared = resolve;
      if (this.#ended) resolve(prepared);
      else this.post({ type: 'prepare', generation, ...change });
    });
  }

  commit(generation: number, busy: readonly BusyPlace[], memory: ListenerMemory): Promise<void> {
    return new Promise((resolve) => {
      this.#settled = resolve;
      if (this.#ended) resolve();
      else this.post({ type: 'commit', generation, busy, memory });
    });
  }

  /** Resolves when main knows what everything means that the worker has counted so far. */
  sync(): Promise<void> {
    return new Promise((resolve) => {
      const id = ++this.#syncId;
      this.#syncs.set(id, resolve);
      if (this.#ended) this.#onSynced();
      else this.post({ type: 'sync', id });
    });
  }

  close(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#closed = resolve;
      if (this.#ended) resolve();
      else this.post({ type: 'close', withinMs });
    });
  }

  #onMessage(message: FromWorker): void {
    const { logger } = this.#telemetry;
    if (message.type === 'prepared') this.#prepared?.(message.result);
    else if (message.type === 'log') logger[message.level](message.fields, message.message);
    else if (message.type === 'crashed')
      logger.error({ request: message.request, stack: message.stack }, 'a proxy worker crashes over a request');
    else if (message.type === 'series') this.#counting.define(message.series);
    else if (message.type === 'forgotten') this.#counting.forget(message.listener);
    else if (message.type === 'synced') this.#onSynced(message.id);
    else if (message.type === 'scrape') void this.#expose(message);
    else if (message.type === 'settled') {
      this.listeners = message.listeners;
      this.#settled?.();
    } else if (message.type === 'keysWanted') this.#events.keysWanted(message.id);
    else if (message.type === 'leaseWanted') this.#events.leaseWanted(message);
    else if (message.type === 'lines') this.#events.lines(message.batch);
    else if (message.type === 'mismatch') this.#events.mismatch(message.mismatch);
    else if (message.type === 'example') this.#events.example(message.example);
    else if (message.type === 'spans') {
      this.#telemetry.traces?.take(message.batch);
      this.post({ type: 'spansTaken' });
    }
  }

  async #expose({ id, listener, collected }: Extract<FromWorker, { type: 'scrape' }>): Promise<void> {
    const text = await this.#counting.expose(listener, collected);
    if (!this.#ended) this.#port.postMessage({ type: 'exposition', id, text } satisfies ToWorker, [text.buffer]);
  }

  #onSynced(id?: number): void {
    for (const [each, done] of this.#syncs) {
      if (id !== undefined && each !== id) continue;
      this.#syncs.delete(each);
      done();
    }
  }

  #onExit(code: number): void {
    this.#ended = true;
    this.#onSynced();
    this.listeners = undefined;
    this.#prepared?.(prepared);
    this.#settled?.();
    this.#closed?.();
    if (this.#closed !== undefined) return;
    this.#telemetry.logger.error({ code }, 'a proxy worker has ended and is replaced');
    this.#events.crash();
  }
}
