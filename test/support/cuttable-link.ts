// A TCP proxy between two nodes in which each direction can be delayed, frozen or cut, as by a network that is
// far, stuck or broken.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Treatment of the bytes of one direction. `cut`: they are lost without an error. `frozen`: they wait, and so does
 * their sender once buffers are full.
 */
export interface Passage {
  readonly state: 'open' | 'cut' | 'frozen';
  /** Delay in milliseconds. Default 0. */
  readonly delayMs?: number;
}

/** `there`: from the one who dials. */
export type Passages = Readonly<Record<'there' | 'back', Passage>>;

const open: Passages = { there: { state: 'open' }, back: { state: 'open' } };

export class CuttableLink {
  readonly port: number;
  readonly #server: Server;
  readonly #streams = new Set<Stream>();
  #passages = open;

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

  /** Connections are kept; they only fall silent in what is cut. */
  cut({ there = false, back = false }: { readonly there?: boolean; readonly back?: boolean }): void {
    this.pass({
      there: { state: there ? 'cut' : 'open' },
      back: { state: back ? 'cut' : 'open' },
    });
  }

  pass(passages: Partial<Passages>): void {
    this.#passages = { ...this.#passages, ...passages };
    for (const stream of this.#streams) stream.follow();
  }

  /** Ends every connection hard, as a host does that knows nothing of it. */
  reset(): void {
    for (const { from } of this.#streams) from.resetAndDestroy();
  }

  /** Opens all passages. Connections that lost bytes are of no use any more, so they end. */
  heal(): void {
    this.pass(open);
    for (const stream of this.#streams) if (stream.hasLost) stream.from.destroy();
  }

  async close(): Promise<void> {
    for (const { from } of this.#streams) from.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, far: Socket): void {
    this.#carry(new Stream(near, far, () => this.#passages.there));
    this.#carry(new Stream(far, near, () => this.#passages.back));
  }

  #carry(stream: Stream): void {
    const { from, to } = stream;
    this.#streams.add(stream);
    from.on('error', () => from.destroy());
    from.on('close', () => {
      this.#streams.delete(stream);
      to.destroy();
    });
  }
}

/** One direction of one connection. */
class Stream {
  readonly from: Socket;
  readonly to: Socket;
  hasLost = false;
  readonly #passage: () => Passage;
  #deliverAt = 0;

  constructor(from: Socket, to: Socket, passage: () => Passage) {
    this.from = from;
    this.to = to;
    this.#passage = passage;
    from.on('data', (bytes: Buffer) => this.#take(bytes));
    this.follow();
  }

  follow(): void {
    if (this.#passage().state === 'frozen') this.from.pause();
    else this.from.resume();
  }

  #take(bytes: Buffer): void {
    const { state, delayMs = 0 } = this.#passage();
    if (state === 'cut') {
      this.hasLost = true;
      return;
    }
    const now = performance.now();
    // Bytes arrive in the order in which they were sent, with any delays.
    this.#deliverAt = Math.max(this.#deliverAt, now + delayMs);
    if (this.#deliverAt <= now) this.to.write(bytes);
    else setTimeout(() => this.to.write(bytes), this.#deliverAt - now);
  }
}
