// One client of a benchmark: a connection that is kept, one request at a time. It shares the processors with what is
// measured, so it does no more than a load generator must: bytes out, status and length in.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

interface Waiting {
  readonly resolve: (status: number) => void;
  readonly reject: (error: Error) => void;
}

const headEnd = Buffer.from('\r\n\r\n');

export class KeepAliveClient {
  readonly #socket: Socket;
  #received: Buffer | undefined;
  #waiting: Waiting | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
    socket.on('error', (error) => this.#fail(error));
  }

  static async open(url: string): Promise<KeepAliveClient> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new KeepAliveClient(socket);
  }

  /** `request`: a whole one, made by `requestBytes`. Resolves with the status once the answer is here in full. */
  send(request: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const bytes = this.#received === undefined ? chunk : Buffer.concat([this.#received, chunk]);
    const end = bytes.indexOf(headEnd);
    const length = end < 0 ? undefined : lengthOf(bytes.toString('latin1', 0, end));
    if (length === undefined || bytes.length < end + headEnd.length + length) {
      this.#received = bytes;
      return;
    }
    this.#received = undefined;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(Number(bytes.toString('latin1', 9, 12)));
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}

/** 0 for an answer without a body. */
const lengthOf = (head: string): number => Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);

/** A request with a JSON body, as bytes. */
export function requestBytes(method: 'POST' | 'PUT', url: string, body: string): Buffer {
  const { host, pathname } = new URL(url);
  const length = Buffer.byteLength(body);
  return Buffer.from(
    `${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`,
  );
}
