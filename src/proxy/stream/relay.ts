// Relay: joins a client and an upstream byte by byte, with backpressure both ways, until both have ended. One side may
// end first and still receive; a reset of one side resets the other.
import { acquire, release } from '../socket/buffer-pool.ts';
import { type ByteSocket, drainedBytesMin } from '../socket/byte-socket.ts';
import type { SocketReceiver } from '../socket/receiver.ts';
import { Timed, type Wheel } from '../wheel.ts';

export type RelayEnd = '' | 'connection_reset' | 'timeout';

export interface RelayOwner {
  /** Called for each read. */
  onCarried(fromClient: boolean, length: number): void;
  /** Called once, when both sides are closed. */
  onRelayEnd(reason: RelayEnd): void;
}

/** Milliseconds of silence after which TCP keep-alive probes the other end: a silent connection may stay for ever. */
const keepAliveMs = 60_000;

export class Relay extends Timed {
  readonly #client: ByteSocket;
  readonly #upstream: ByteSocket;
  readonly #owner: RelayOwner;
  readonly #wheel: Wheel;
  readonly #idleMs: number;
  #open = 2;
  #carriedMs: number;
  #reason: RelayEnd = '';

  /** `idleMs`: milliseconds of silence after which both are aborted; 0 = never. Neither socket has listeners. */
  constructor(client: ByteSocket, upstream: ByteSocket, owner: RelayOwner, wheel: Wheel, idleMs: number) {
    super();
    this.#client = client;
    this.#upstream = upstream;
    this.#owner = owner;
    this.#wheel = wheel;
    this.#idleMs = idleMs;
    this.#carriedMs = wheel.nowMs;
  }

  /** `first`: bytes of the client that were read before. */
  begin(first: Buffer | undefined): void {
    const [client, upstream] = [this.#client, this.#upstream];
    upstream.keepOpen();
    this.#watch();
    this.#join(client, upstream, true);
    this.#join(upstream, client, false);
    if (first !== undefined) {
      this.carried(true, first.length);
      upstream.write(first);
    }
    // Silence in both directions is noticed by the kernel alone.
    client.setKeepAlive(true, keepAliveMs);
    upstream.setKeepAlive(true, keepAliveMs);
    if (upstream.writableLength < drainedBytesMin) client.resume();
    upstream.resume();
  }

  carried(fromClient: boolean, length: number): void {
    this.#carriedMs = this.#wheel.nowMs;
    this.#owner.onCarried(fromClient, length);
  }

  /** Aborts both sides. */
  destroy(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  override onDeadline(): void {
    if (this.#wheel.nowMs - this.#carriedMs < this.#idleMs) this.#watch();
    else {
      this.#reason = 'timeout';
      this.destroy();
    }
  }

  #watch(): void {
    if (this.#idleMs > 0) this.#wheel.arm(this, this.#idleMs - (this.#wheel.nowMs - this.#carriedMs));
  }

  #join(from: ByteSocket, to: ByteSocket, fromClient: boolean): void {
    // A reset of one side comes behind the bytes that the other one has sent.
    from.readsAfterReset = true;
    const flow = new Flow(from, to, this, fromClient);
    from.receiver = flow;
    to.on('drain', () => flow.onDrain());
    from.on('end', () => to.end());
    from.on('error', () => {
      this.#reason ||= 'connection_reset';
      to.resetAndDestroy();
    });
    from.on('close', () => {
      to.destroySoon();
      if (--this.#open > 0) return;
      this.#wheel.remove(this);
      this.#owner.onRelayEnd(this.#reason);
    });
  }
}

/** One direction. */
class Flow implements SocketReceiver {
  readonly #from: ByteSocket;
  readonly #to: ByteSocket;
  readonly #relay: Relay;
  readonly #fromClient: boolean;
  /** Buffer of a write that the kernel has not taken whole. */
  #held: Buffer | undefined;

  constructor(from: ByteSocket, to: ByteSocket, relay: Relay, fromClient: boolean) {
    this.#from = from;
    this.#to = to;
    this.#relay = relay;
    this.#fromClient = fromClient;
  }

  onBytes(bytes: Buffer, length: number): void {
    const to = this.#to;
    this.#relay.carried(this.#fromClient, length);
    if (!to.writable) return;
    // All sockets read into one buffer, and the kernel may take a write later.
    if (length < drainedBytesMin) {
      if (!to.write(Buffer.from(bytes.subarray(0, length)))) this.#from.pause();
      return;
    }
    const buffer = acquire();
    bytes.copy(buffer, 0, 0, length);
    to.write(buffer.subarray(0, length));
    if (to.writableLength === 0) {
      release(buffer);
      return;
    }
    this.#held = buffer;
    this.#from.pause();
  }

  onDrain(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) release(held);
    this.#from.resume();
  }
}
