// A WebSocket between a stream of a client and an upstream (RFC 8441): bytes go both ways, each side
// waiting for the other. What the client sends after the upstream's end goes nowhere, as with any response
// (docs/decisions/half-closed-clients.md).
import type { TunnelEnd } from '../../socket/tunnel-end.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import type { Stream } from '../stream.ts';

/** With one side ended, the tunnel is cut when nothing has come for so long. */
const halfOpenMs = 60_000;
/** A silent tunnel may stay for ever, so the system asks after such a time whether the other end still exists. */
const keepAliveMs = 60_000;

export class StreamTunnel extends Timed {
  readonly #upstream: TunnelEnd;
  readonly #wheel: Wheel;
  /** Undefined when it is over. */
  #stream: Stream | undefined;
  /** When bytes came last. */
  #carriedMs: number;
  /** How long it may carry nothing; 0 = as long as it likes. */
  #idleMs: number;
  readonly #onCut: () => void;

  /**
   * The owner of the stream hands on what comes on it, and resets it on `onCut`. `idleMs`: it is cut when nothing has
   * come for so long; 0 = never.
   */
  constructor(stream: Stream, upstream: TunnelEnd, wheel: Wheel, idleMs: number, onCut: () => void) {
    super();
    this.#onCut = onCut;
    this.#idleMs = idleMs;
    this.#carriedMs = wheel.nowMs;
    this.#stream = stream;
    this.#upstream = upstream;
    this.#wheel = wheel;
    upstream.removeAllListeners('drain');
    upstream.setKeepAlive(true, keepAliveMs);
    upstream.receiver = { onBytes: (bytes, length) => this.#onBytes(bytes.subarray(0, length)) };
    upstream.on('drain', () => this.#stream?.resume());
    upstream.on('end', () => this.#onUpstreamEnd());
    upstream.on('error', () => this.#cut());
    upstream.on('close', () => this.#onUpstreamEnd());
    upstream.resume();
    this.#watch();
  }

  /** What came behind the upstream's head, first of all. */
  begin(rest: Buffer): void {
    if (rest.length > 0) this.#onBytes(rest);
    // It may have gone before anybody could listen for that.
    if (this.#upstream.closed) this.#onUpstreamEnd();
  }

  /** From the client. */
  onData(chunk: Buffer): boolean {
    this.#carriedMs = this.#wheel.nowMs;
    return this.#upstream.write(Buffer.from(chunk));
  }

  /** The client says no more. */
  onEnd(): void {
    this.#upstream.end();
    this.#idleMs = this.#idleMs === 0 ? halfOpenMs : Math.min(this.#idleMs, halfOpenMs);
    this.#carriedMs = this.#wheel.nowMs;
    this.#watch();
  }

  /** The client has room. */
  onRoom(): void {
    this.#upstream.resume();
  }

  /** The stream is gone. */
  onOver(): void {
    this.#stream = undefined;
    this.#wheel.remove(this);
    this.#upstream.destroySoon();
  }

  override onDeadline(): void {
    if (this.#wheel.nowMs - this.#carriedMs < this.#idleMs) this.#watch();
    else this.#cut();
  }

  #onBytes(chunk: Buffer): void {
    this.#carriedMs = this.#wheel.nowMs;
    if (this.#stream?.sendData(chunk) === false) this.#upstream.pause();
  }

  #onUpstreamEnd(): void {
    this.#stream?.sendEnd();
  }

  #watch(): void {
    if (this.#idleMs === 0 || this.#stream === undefined) return;
    this.#wheel.arm(this, this.#idleMs - (this.#wheel.nowMs - this.#carriedMs));
  }

  #cut(): void {
    if (this.#stream === undefined) return;
    this.onOver();
    this.#upstream.destroy();
    this.#onCut();
  }
}
