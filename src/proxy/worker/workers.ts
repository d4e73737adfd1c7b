// The proxy workers as main sees them: they are started together, install together, and a worker that falls is
// replaced. All listen on the same ports; the kernel spreads connections over them.
import { createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import { type BusyPlace, keyOf, type ListenerStatus, placeOf, statusIn } from '../listener/listeners.ts';
import { ConnectionCounts, RowBook } from '../shared/connection-counts.ts';
import type { Installer } from './installer.ts';
import { type PackedConfig, packConfig } from './packed-config.ts';
import type { FromWorker, ToWorker, WorkerStart } from './protocol.ts';

export interface WorkersOptions {
  readonly count: number;
  readonly telemetry: Telemetry;
  readonly bindAddress: string | undefined;
  /** What a worker runs. Default: thread.ts beside this file. */
  readonly thread?: URL | undefined;
}

const ownThread = new URL(`./thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/** A worker that falls sooner than this after its start is replaced only after that time: no storm of starts. */
const restartMsMin = 1_000;

interface InForce {
  readonly config: PackedConfig;
  readonly busy: readonly BusyPlace[];
}

export class Workers implements Installer {
  readonly size: number;
  readonly #options: WorkersOptions;
  readonly #generation = new SharedArrayBuffer(4);
  readonly #cell = new Int32Array(this.#generation);
  readonly #counts: ConnectionCounts;
  readonly #rows = new RowBook();
  readonly #members: Member[];
  #number = 0;
  #inForce: InForce | undefined;
  #closing = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.size = options.count;
    this.#counts = new ConnectionCounts(options.count);
    this.#members = Array.from({ length: options.count }, (_, i) => this.#startMember(i));
  }

  async install(config: ProxyConfig, onThreadDone: () => void): Promise<void> {
    const packed = packConfig(config, this.#rows);
    const generation = ++this.#number;
    const vetoes = await Promise.all(this.#members.map((member) => member.prepare(generation, packed)));
    const veto = vetoes.find((reason) => reason !== undefined);
    if (veto !== undefined) {
      for (const member of this.#members) member.say({ type: 'discard', generation });
      throw new Error(veto);
    }
    const busy = await this.#probe(config);
    Atomics.store(this.#cell, 0, generation);
    this.#inForce = { config: packed, busy };
    await Promise.all(this.#members.map((member) => member.commit(generation, busy).then(onThreadDone)));
  }

  /** A port counts as open when every worker has it open. */
  listeners(): readonly ListenerStatus[] {
    const [first, ...others] = this.#members.map((member) => member.listeners);
    return (first ?? []).map((status) => {
      const closed = others.map((list) => statusIn(list, status.id)).find((other) => other?.state === 'closed');
      return closed ?? status;
    });
  }

  async close(withinMs: number): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#members.map((member) => member.close(withinMs)));
  }

  /**
   * `reusePort` lets a port be shared with strangers as well, so a port that no worker has yet is bound once without
   * it (architecture.md §9).
   */
  async #probe({ snapshot }: ProxyConfig): Promise<BusyPlace[]> {
    const open = new Set(
      this.listeners()
        .filter(({ state }) => state === 'open')
        .map(keyOf),
    );
    const busy: BusyPlace[] = [];
    for (const listener of snapshot.listeners) {
      const place = placeOf(listener, this.#options.bindAddress);
      const key = keyOf(place);
      if (open.has(key) || listener.tls !== undefined) continue;
      open.add(key);
      const reason = await bindOnce(place);
      if (reason !== undefined) busy.push({ place: key, reason });
    }
    return busy;
  }

  #startMember(place: number): Member {
    const start: WorkerStart = {
      bindAddress: this.#options.bindAddress,
      generation: this.#generation,
      connections: this.#counts.buffer,
      workers: this.size,
      place,
      shared: true,
    };
    const startedMs = performance.now();
    const { telemetry, thread = ownThread } = this.#options;
    return new Member(thread, start, telemetry, () => {
      this.#counts.forget(place);
      if (this.#closing) return;
      const waitMs = Math.max(0, restartMsMin - (performance.now() - startedMs));
      setTimeout(() => this.#replace(place), waitMs).unref();
    });
  }

  #replace(place: number): void {
    if (this.#closing) return;
    const member = this.#startMember(place);
    this.#members[place] = member;
    const inForce = this.#inForce;
    if (inForce === undefined) return;
    const generation = Atomics.load(this.#cell, 0);
    void member
      .prepare(generation, inForce.config)
      .then(() => member.commit(generation, inForce.busy))
      .then(() => this.#options.telemetry.logger.info({}, 'a new proxy worker serves'));
  }
}

/** One worker. What is asked of a worker that falls counts as done: its place in the set is filled anew. */
class Member {
  listeners: readonly ListenerStatus[] = [];
  readonly #worker: Worker;
  readonly #telemetry: Telemetry;
  readonly #onFall: () => void;
  #prepared: ((veto: string | undefined) => void) | undefined;
  #settled: (() => void) | undefined;
  #closed: (() => void) | undefined;
  #over = false;

  constructor(thread: URL, start: WorkerStart, telemetry: Telemetry, onFall: () => void) {
    this.#telemetry = telemetry;
    this.#onFall = onFall;
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
    }
  }

  #onExit(code: number): void {
    this.#over = true;
    this.#prepared?.(undefined);
    this.#settled?.();
    this.#closed?.();
    if (this.#closed !== undefined) return;
    this.#telemetry.logger.error({ code }, 'a proxy worker has ended and is replaced');
    this.#onFall();
  }
}

/** Why the port cannot be had, if it cannot. */
function bindOnce({ address, port }: { address: string; port: number }): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error.message));
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
