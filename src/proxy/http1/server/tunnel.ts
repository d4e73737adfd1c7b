// After 101 two sockets are one connection: bytes go both ways, each side waiting for the other, until both have
// ended. One side may end first and still be sent something, but not be forgotten in that state.

import type { ByteSocket } from '../../socket/byte-socket.ts';
import type { TunnelEnd } from '../../socket/tunnel-end.ts';
import { Timed, type Wheel } from '../../wheel.ts';

/** With one side ended, the tunnel is cut when nothing has come for so long. */
const halfOpenMs = 60_000;
/** A silent tunnel may stay for ever, so the system asks after such a time whether the other end still exists. */
const keepAliveMs = 60_000;

export class Tunnel extends Timed {
  readonly #client: ByteSocket;
  readonly #upstream: TunnelEnd;
  readonly #wheel: Wheel;
  readonly #onEnd: () => void;
  #open = 2;
  /** When bytes came last. */
  #carriedMs: number;
  /** How long it may carry nothing; 0 = as long as it likes. */
  #idleMs: number;

  /**
   * `onEnd` is called once, when both are gone. `idleMs`: it is cut when nothing has come for so long; 0 = never.
   * Listeners for drain must have been removed.
   */
  constructor(client: ByteSocket, upstream: TunnelEnd, wheel: Wheel, idleMs: number, onEnd: () => void) {
    super();
    this.#idleMs = idleMs;
    this.#carriedMs = wheel.nowMs;
    this.#client = client;
    this.#upstream = upstream;
    this.#wheel = wheel;
    this.#onEnd = onEnd;
    upstream.keepOpen();
    this.#carry(client, upstream);
    this.#carry(upstream, client);
    this.#watch();
    // It may have gone before anybody could listen for that.
    if (!upstream.closed) return;
    this.#open--;
    client.destroySoon();
  }

  /** The client had said all before there was a tunnel: what it sent ahead is with the upstream already. */
  onClientEnded(): void {
    this.#upstream.end();
    this.#halfOpen();
  }

  override onDeadline(): void {
    if (this.#wheel.nowMs - this.#carriedMs < this.#idleMs) this.#watch();
    else {
      this.#client.destroy();
      this.#upstream.destroy();
    }
  }

  #watch(): void {
    if (this.#idleMs > 0) this.#wheel.arm(this, this.#idleMs - (this.#wheel.nowMs - this.#carriedMs));
  }

  #halfOpen(): void {
    this.#idleMs = this.#idleMs === 0 ? halfOpenMs : Math.min(this.#idleMs, halfOpenMs);
    this.#carriedMs = this.#wheel.nowMs;
    this.#watch();
  }

  #carry(from: TunnelEnd, to: TunnelEnd): void {
    from.setKeepAlive(true, keepAliveMs);
    from.receiver = {
      onBytes: (bytes, length) => {
        this.#carriedMs = this.#wheel.nowMs;
        if (!to.write(Buffer.from(bytes.subarray(0, length)))) from.pause();
      },
    };
    to.on('drain', () => from.resume());
    from.on('end', () => {
      to.end();
      this.#halfOpen();
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      to.destroySoon();
      if (--this.#open > 0) return;
      this.#wheel.remove(this);
      this.#onEnd();
    });
    from.resume();
  }
}
