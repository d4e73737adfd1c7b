// Port socket: the listening socket of one place, on which every worker listens. It hands each connection to what serves the port at that moment.
import { createServer, type Server } from 'node:net';
import type { Logger } from '../../telemetry/logger.ts';
import { sockets } from '../socket/sockets.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';

export interface ListenerPlace {
  readonly address: string;
  readonly port: number;
}

export class PortSocket {
  readonly #server: Server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Rejects with the system's error when the place cannot be bound. */
  bind({ address, port }: ListenerPlace, take: (handle: TcpHandle) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port, host: address, backlog: 1024, reusePort: true }, () => {
        this.#server.off('error', reject);
        sockets.accept(this.#server, take);
        this.#server.on('error', ({ message }) => this.#logger.warn({ port, message }, 'a connection is not accepted'));
        resolve();
      });
    });
  }

  /** Stops accepting. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}
