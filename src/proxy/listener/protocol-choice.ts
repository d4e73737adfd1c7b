// Protocol choice: a cleartext connection whose first bytes determine its version of HTTP: the preface of HTTP/2 (RFC
// 9113 §3.4) is a request that no client of HTTP/1.1 makes.
import type { ExchangeContext } from '../exchange/exchange-context.ts';
import { preface } from '../http2/frame.ts';
import type { ByteSocket, SocketReceiver } from '../socket/byte-socket.ts';
import type { Security } from '../socket/security.ts';
import { Timed } from '../wheel.ts';

/** Called once. Returns the next receiver; undefined after `none`. */
export type Choose = (
  choice: ProtocolChoice,
  protocol: 'http1' | 'http2' | 'none',
  spentMs: number,
) => SocketReceiver | undefined;

/** Length of `PRI * HTTP/2.0`: no request line of HTTP/1.x begins like this. */
const tellingBytes = 14;

export class ProtocolChoice extends Timed implements SocketReceiver {
  readonly wire: ByteSocket;
  readonly #context: ExchangeContext;
  readonly #choose: Choose;
  readonly #startedMs: number;
  /** Bytes of the preface received. */
  #matched = 0;
  #over = false;
  readonly #onGone = (): void => this.destroy();

  constructor(wire: ByteSocket, context: ExchangeContext, choose: Choose) {
    super();
    this.wire = wire;
    this.#context = context;
    this.#choose = choose;
    this.#startedMs = context.wheel.nowMs;
    wire.receiver = this;
    wire.on('end', this.#onGone);
    wire.on('error', this.#onGone);
    wire.on('close', this.#onGone);
    const { clientHeaderMs } = context.settings();
    if (clientHeaderMs > 0) context.wheel.arm(this, clientHeaderMs);
    wire.resume();
  }

  get security(): Security | undefined {
    return this.wire.security;
  }

  get idle(): boolean {
    return this.#matched === 0;
  }

  drain(): void {}

  destroy(): void {
    if (!this.#settle()) return;
    // An error of the connection needs no handling here.
    this.wire.on('error', () => {});
    this.wire.destroy();
    this.#choose(this, 'none', 0);
  }

  override onDeadline(): void {
    this.destroy();
  }

  onBytes(bytes: Buffer, length: number): void {
    let at = this.#matched;
    const had = at;
    while (at < tellingBytes && at - had < length && bytes[at - had] === preface[at]) at++;
    if (at < tellingBytes && at - had === length) {
      this.#matched = at;
      return;
    }
    const spentMs = this.#context.wheel.nowMs - this.#startedMs;
    if (!this.#settle()) return;
    const reader = this.#choose(this, at === tellingBytes ? 'http2' : 'http1', spentMs);
    // The bytes received before were the beginning of the preface.
    if (had > 0) reader?.onBytes(Buffer.from(preface.subarray(0, had)), had);
    reader?.onBytes(bytes, length);
  }

  /** Returns false when the choice was made before. */
  #settle(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#context.wheel.remove(this);
    this.wire.off('end', this.#onGone);
    this.wire.off('error', this.#onGone);
    this.wire.off('close', this.#onGone);
    return true;
  }
}
