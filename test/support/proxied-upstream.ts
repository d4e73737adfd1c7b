// Upstream that reads a head of the PROXY protocol from each connection, and answers requests behind it.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { readProxyHeader } from '../../src/proxy/socket/proxy-header.ts';

export class ProxiedUpstream {
  /** Head of each connection. */
  readonly heads: Buffer[] = [];
  /** Connection of each request, in their order. */
  readonly requests: number[] = [];
  /** Connections that are open. */
  open = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  constructor(tls?: { readonly cert: string; readonly key: string }) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      this.open++;
      socket.on('close', () => {
        this.open--;
      });
      socket.on('error', () => {});
      let received = Buffer.alloc(0);
      const onData = (chunk: Buffer): void => {
        received = Buffer.concat([received, chunk]);
        const header = readProxyHeader(received);
        if (header === 'more') return;
        socket.off('data', onData);
        if (typeof header === 'string') {
          socket.destroy();
          return;
        }
        const at = this.heads.push(received.subarray(0, header.length)) - 1;
        const rest = received.subarray(header.length);
        if (tls === undefined) {
          this.#serve(socket, at);
          if (rest.length > 0) socket.emit('data', rest);
          return;
        }
        // The socket of TLS reads what is left of this one.
        socket.pause();
        if (rest.length > 0) socket.unshift(rest);
        const secured = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(tls) });
        secured.on('error', () => {});
        this.#serve(secured, at);
      };
      socket.on('data', onData);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => resolve());
    });
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #serve(socket: Socket, at: number): void {
    socket.on('data', () => {
      this.requests.push(at);
      const body = `connection ${at}`;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
  }
}
