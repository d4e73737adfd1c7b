// Tunnel after 101: joins two sockets, with backpressure both ways, until both have ended. One side may end first and
// still receive, for a limited time of silence.

import type { ByteSocket } from '../../socket/byte-socket.ts';
import type { TunnelEnd } from '../../socket/tunnel-end.ts';
import { Timed, type Wheel } from '../../wheel.ts';

/** Milliseconds of silence after which a tunnel with one side ended is aborted. */
const halfOpenMs = 60_000;
/** Milliseconds of silence after which TCP keep-alive probes the other end: a silent tunnel may stay for ever. */
const keepAliveMs = 60_000;

export class Tunnel extends Timed {
  readonly #client: ByteSocket;
  readonly #upstream: TunnelEnd;
  readonly #wheel: Wheel;
  readonly #onEnd: () => void;
  #open = 2;
  /** Time at which bytes arrived last. */
  #carriedMs: number;
  /** Milliseconds that it may carry nothing; 0 = no limit. */
  #idleMs: number;

  /**
   * `onEnd` is called once, when both sides have ended. `idleMs`: milliseconds of silence after which the tunnel is
   * aborted; 0 = never. The caller has removed its listeners for drain.
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
    // The upstream may have closed before the listeners were added.
    if (!upstream.closed) return;
    this.#open--;
    client.destroySoon();
  }

  /**
   * Ends the direction to the upstream: the client had ended before the tunnel began, and the bytes it sent ahead are
   * with the upstream already.
   */
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
