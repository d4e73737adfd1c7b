// Many proxies in one process that do nothing but follow the stream: raw sockets that look for the end of an event.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export class StreamClient {
  readonly #socket: Socket;
  #tail = '';
  bytes = 0;
  /** Events that came whole. */
  events = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      // An event ends with an empty line, and its chunk of the transfer coding right behind that.
      const text = this.#tail + chunk.toString('latin1', Math.max(0, chunk.length - 4));
      if (text.endsWith('\n\n\r\n')) this.events++;
      this.#tail = text.slice(-3);
    });
  }

  static async open(url: string, headers: Readonly<Record<string, string>>): Promise<StreamClient> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    const client = new StreamClient(socket);
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET /sync/snapshot HTTP/1.1\r\nhost: ${host}\r\n${fields.join('')}\r\n`);
    await once(socket, 'data');
    return client;
  }

  close(): void {
    this.#socket.destroy();
  }
}
