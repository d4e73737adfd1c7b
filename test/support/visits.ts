// Clients that come once, each on a connection of its own, at a steady rate.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Visits {
  /** Connections so far. */
  readonly count: number;
  readonly failed: readonly string[];
  /** Resolves when the last of them has ended. */
  stop(): Promise<void>;
}

export interface VisitsOptions {
  readonly perMinute: number;
  /** Taken in turn. Default: `/`. */
  readonly paths?: readonly string[];
  /** Taken in turn. Default: `asking`. */
  readonly ways?: readonly Way[];
}

/** Exchange of a client on one connection until it has ended. Rejects when it fails. */
type Way = (visitor: Visitor, path: string) => Promise<void>;

const tickMs = 50;

export function startVisits(port: number, { perMinute, paths = ['/'], ways = [asking] }: VisitsOptions): Visits {
  const failed: string[] = [];
  const open = new Set<Promise<void>>();
  const startedAt = performance.now();
  let count = 0;
  const tick = setInterval(() => {
    const due = ((performance.now() - startedAt) / 60_000) * perMinute;
    for (; count < due; count++) {
      const way = ways[count % ways.length] ?? asking;
      const path = paths[Math.floor(count / ways.length) % paths.length] ?? '/';
      const visit = way(new Visitor(port), path)
        .catch((error: Error) => void failed.push(`${way.name} at ${path}: ${error.message}`))
        .finally(() => open.delete(visit));
      open.add(visit);
    }
  }, tickMs);
  return {
    failed,
    get count() {
      return count;
    },
    async stop() {
      clearInterval(tick);
      await Promise.all(open);
    },
  };
}

/** Asks, and has to be answered 200 `ok`. */
export async function asking(visitor: Visitor, path: string): Promise<void> {
  visitor.send(`GET ${path} HTTP/1.1\r\nHost: soak\r\nConnection: close\r\n\r\n`);
  await visitor.ended;
  visitor.expect(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\nok$/);
}

/** Closes before the answer comes. */
export async function leaving(visitor: Visitor, path: string): Promise<void> {
  visitor.send(`GET ${path} HTTP/1.1\r\nHost: soak\r\n\r\n`);
  await visitor.leave();
}

/** Closes in the middle of its body. */
export async function breakingOff(visitor: Visitor, path: string): Promise<void> {
  const half = 'x'.repeat(20_000);
  visitor.send(`POST ${path} HTTP/1.1\r\nHost: soak\r\nContent-Length: ${2 * half.length}\r\n\r\n${half}`);
  await visitor.leave();
}

/** Opens a WebSocket and closes it, which the other side has to confirm (RFC 6455 §5.5.1). */
export async function tunnelling(visitor: Visitor, path: string): Promise<void> {
  visitor.send(
    `GET ${path} HTTP/1.1\r\nHost: soak\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n\r\n`,
  );
  await visitor.heard;
  visitor.expect(/^HTTP\/1\.1 101 /);
  visitor.send('\x88\x80\0\0\0\0');
  await visitor.ended;
}

/** A visit that hears nothing for so long has failed. */
const silenceMs = 120_000;

class Visitor {
  readonly #socket: Socket;
  /** The first bytes have come. */
  readonly heard: Promise<unknown>;
  /** Resolves when both sides have closed. */
  readonly ended: Promise<unknown>;
  #received = '';

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1' }).setEncoding('latin1');
    this.#socket.setTimeout(silenceMs, () => this.#socket.destroy(new Error(`no answer in ${silenceMs} ms`)));
    this.#socket.on('data', (chunk: string) => {
      this.#received += chunk;
    });
    this.heard = once(this.#socket, 'data');
    this.ended = once(this.#socket, 'close');
    for (const waited of [this.heard, this.ended]) waited.catch(() => undefined);
  }

  send(bytes: string): void {
    this.#socket.write(bytes, 'latin1');
  }

  /** Cuts the connection once all is sent. */
  async leave(): Promise<void> {
    if (this.#socket.connecting) await once(this.#socket, 'connect');
    await new Promise((resolve) => this.#socket.write('', resolve));
    this.#socket.resetAndDestroy();
  }

  expect(answer: RegExp): void {
    if (!answer.test(this.#received)) throw new Error(`answered ${JSON.stringify(this.#received.slice(0, 80))}`);
  }
}
