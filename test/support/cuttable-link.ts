// A TCP proxy between two nodes that can be cut in one direction or both: what arrives in a cut direction is dropped,
// and nobody is told, as when a network loses it.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class CuttableLink {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cut: { readonly there: boolean; readonly back: boolean } = { there: false, back: false };

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async to(target: number): Promise<CuttableLink> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const link = new CuttableLink(server, address.port);
    server.on('connection', (near) => link.#join(near, connect(target, '127.0.0.1')));
    return link;
  }

  /** `there`: from the one who dials. Connections are kept; they only fall silent. */
  cut(directions: { readonly there: boolean; readonly back: boolean }): void {
    this.#cut = directions;
  }

  /** Connections that lost something are of no use any more, so they end. */
  heal(): void {
    this.#cut = { there: false, back: false };
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to, isCut] of [
      [near, far, () => this.#cut.there],
      [far, near, () => this.#cut.back],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (bytes) => {
        if (!isCut()) to.write(bytes);
      });
      from.on('error', () => from.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
