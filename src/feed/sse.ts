// The server side of the activation stream (contract.md §4.1): every proxy that connects gets the active configuration
// at once and each later one. The bytes of one activation are made once, however many clients there are.
import type { ServerResponse } from 'node:http';
import type { Cancel, Clock } from '../clock.ts';
import type { ConfigSource, ProxyConfig } from '../model/proxy-config.ts';
import type { Logger } from '../telemetry/logger.ts';
import { EventStream } from './event-stream.ts';

const keepAliveMs = 15_000;
/** Foreign receivers read a line into a buffer of this size (contract.md §4.1). */
const foreignLineLimit = 4 * 1024 * 1024;

interface Parts {
  readonly source: ConfigSource;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Sent as `X-Sluice-Cluster`; a receiver drops its floor when it changes (architecture.md §6.13). */
  readonly clusterId: () => string;
}

export class SnapshotStreams {
  readonly #parts: Parts;
  readonly #clients = new Set<EventStream>();
  readonly #unsubscribe: () => void;
  #current: ProxyConfig | undefined;
  #frame: Buffer | undefined;
  #cancelKeepAlive: Cancel = () => undefined;
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#unsubscribe = parts.source.subscribe((config) => this.#publish(config));
    this.#scheduleKeepAlive();
  }

  /** Number of open streams. */
  get size(): number {
    return this.#clients.size;
  }

  /** Takes over a response that nothing was written to. `HEAD` gets the headers alone. */
  attach(response: ServerResponse): void {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      Connection: 'keep-alive',
      'X-Accel-Buffering': 'no',
      'X-Sluice-Cluster': this.#parts.clusterId(),
    });
    if (response.req.method === 'HEAD' || this.#closed) {
      response.end();
      return;
    }
    response.flushHeaders();
    // A peer that vanished without a word is found by TCP, even while nothing can be written to it.
    response.socket?.setKeepAlive(true, keepAliveMs);
    const client = new EventStream(response);
    this.#clients.add(client);
    response.on('close', () => this.#clients.delete(client));
    if (this.#current !== undefined) client.send(this.#frameOf(this.#current));
  }

  /** Ends every stream without a final event and takes no more. May be called twice. */
  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    this.#cancelKeepAlive();
    for (const client of this.#clients) client.end();
  }

  /** Cuts the clients that have not read to their end. */
  destroy(): void {
    for (const client of this.#clients) client.destroy();
  }

  #publish(config: ProxyConfig): void {
    this.#current = config;
    this.#frame = undefined;
    for (const client of this.#clients) client.send(this.#frameOf(config));
  }

  #frameOf(config: ProxyConfig): Buffer {
    this.#frame ??= this.#build(config);
    return this.#frame;
  }

  #build({ index, id, name, createdAt, snapshot }: ProxyConfig): Buffer {
    const { listeners, routes, groups, destinations, middlewares } = snapshot;
    const lists = { listeners, routes, groups, destinations, middlewares };
    const frame = Buffer.from(
      `event: snapshot\nid: ${index}\ndata: ${JSON.stringify({ id, name, createdAt, snapshot: lists })}\n\n`,
    );
    if (frame.length > foreignLineLimit) {
      this.#parts.logger.warn(
        { snapshot: id, bytes: frame.length },
        'the snapshot exceeds what foreign proxies can read',
      );
    }
    return frame;
  }

  #scheduleKeepAlive(): void {
    this.#cancelKeepAlive = this.#parts.clock.after(keepAliveMs, () => {
      for (const client of this.#clients) client.keepAlive();
      this.#scheduleKeepAlive();
    });
  }
}
