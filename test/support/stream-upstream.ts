// Upstream of bytes: a TCP server that begins with its name, keeps what each connection sends, and answers as a test
// says.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export class StreamUpstream {
  readonly name: string;
  readonly sockets: Socket[] = [];
  /** Bytes of each connection, one character each. */
  readonly received: string[] = [];
  readonly ended: boolean[] = [];
  /** Code of the error that ended each connection. */
  readonly errors: (string | undefined)[] = [];
  readonly #server: Server;

  /** `greets`: the name is sent as soon as a connection is there. */
  constructor(name: string, { greets = true, echoes = false } = {}) {
    this.name = name;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const at = this.sockets.push(socket) - 1;
      this.received[at] = '';
      this.ended[at] = false;
      socket.on('data', (chunk: Buffer) => {
        this.received[at] += chunk.toString('latin1');
        if (echoes) socket.write(chunk);
      });
      socket.on('end', () => {
        this.ended[at] = true;
        if (echoes) socket.end();
      });
      socket.on('error', ({ code }: NodeJS.ErrnoException) => {
        this.errors[at] = code;
      });
      if (greets) socket.write(`${name}\n`);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  listen(port = 0): Promise<number> {
    return new Promise((resolve) => {
      this.#server.listen(port, '127.0.0.1', () => resolve(this.port));
    });
  }

  close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}
