// A TCP proxy that sits between two nodes as a man in the middle does: it reads what passes, and adds, repeats or changes
// bytes of the direction from the node that dials.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Bytes that take the place of those that the dialling node sent; the default passes them on. */
export type Meddle = (bytes: Buffer) => readonly Uint8Array[];

export class InterceptingLink {
  readonly port: number;
  readonly #server: Server;
  readonly #ends = new Set<{ readonly near: Socket; readonly far: Socket }>();
  meddle: Meddle = (bytes) => [bytes];

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async to(target: number): Promise<InterceptingLink> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const link = new InterceptingLink(server, address.port);
    server.on('connection', (near) => link.#join(near, connect(target, '127.0.0.1')));
    return link;
  }

  /** Connections that stand. */
  get connections(): number {
    return this.#ends.size;
  }

  /** Adds bytes to every connection that stands, as if the dialling node had sent them. */
  inject(bytes: Uint8Array): void {
    for (const { far } of this.#ends) far.write(bytes);
  }

  async close(): Promise<void> {
    for (const { near } of this.#ends) near.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, far: Socket): void {
    const ends = { near, far };
    this.#ends.add(ends);
    near.on('data', (bytes: Buffer) => {
      for (const each of this.meddle(bytes)) far.write(each);
    });
    far.on('data', (bytes: Buffer) => near.write(bytes));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => from.destroy());
      from.on('close', () => {
        this.#ends.delete(ends);
        to.destroy();
      });
    }
  }
}
