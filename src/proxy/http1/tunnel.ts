// After 101 two sockets are one connection: bytes go both ways, each side waiting for the other, until both have
// ended. One side may end first and still be sent something, but not be forgotten in that state.
import type { Wire } from '../socket/wire.ts';
import { Timed, type Wheel } from '../wheel.ts';

/** With one side ended, the tunnel is cut when nothing has come for so long. */
const halfOpenMs = 60_000;
/** A silent tunnel may stay for ever, so the system asks after such a time whether the other end still exists. */
const keepAliveMs = 60_000;

export class Tunnel extends Timed {
  readonly #client: Wire;
  readonly #upstream: Wire;
  readonly #wheel: Wheel;
  readonly #onEnd: () => void;
  #open = 2;
  /** Bytes read when it was looked at last. */
  #carried = 0;

  /** `onEnd` is called once, when both are gone. Listeners for drain must have been removed. */
  constructor(client: Wire, upstream: Wire, wheel: Wheel, onEnd: () => void) {
    super();
    this.#client = client;
    this.#upstream = upstream;
    this.#wheel = wheel;
    this.#onEnd = onEnd;
    this.#carry(client, upstream);
    this.#carry(upstream, client);
  }

  override onDeadline(): void {
    if (this.#bytesRead === this.#carried) {
      this.#client.destroy();
      this.#upstream.destroy();
    } else this.#watch();
  }

  get #bytesRead(): number {
    return this.#client.bytesRead + this.#upstream.bytesRead;
  }

  #watch(): void {
    this.#carried = this.#bytesRead;
    this.#wheel.arm(this, halfOpenMs);
  }

  #carry(from: Wire, to: Wire): void {
    from.setKeepAlive(true, keepAliveMs);
    from.receiver = {
      onBytes(bytes, length) {
        if (!to.write(Buffer.from(bytes.subarray(0, length)))) from.pause();
      },
    };
    to.on('drain', () => from.resume());
    from.on('end', () => {
      to.end();
      this.#watch();
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
