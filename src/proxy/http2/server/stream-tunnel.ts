// WebSocket between a stream of a client and an upstream (RFC 8441): bytes go both ways with backpressure. Bytes that
// the client sends after the upstream's end are dropped, as after any response
// (docs/decisions/half-closed-clients.md).
import type { TunnelEnd } from '../../socket/tunnel-end.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import type { Stream } from '../stream.ts';

/** Milliseconds of silence after which a tunnel with one side ended is aborted. */
const halfOpenMs = 60_000;
/** Milliseconds of silence after which TCP keep-alive probes the other end: a silent tunnel may stay for ever. */
const keepAliveMs = 60_000;

export class StreamTunnel extends Timed {
  readonly #upstream: TunnelEnd;
  readonly #wheel: Wheel;
  /** Undefined after the end. */
  #stream: Stream | undefined;
  /** Time at which bytes arrived last. */
  #carriedMs: number;
  /** Milliseconds that it may carry nothing; 0 = no limit. */
  #idleMs: number;
  readonly #onAbort: () => void;

  /**
   * The owner of the stream passes on its callbacks, and resets it on `onAbort`. `idleMs`: milliseconds of silence
   * after which the tunnel is aborted; 0 = never.
   */
  constructor(stream: Stream, upstream: TunnelEnd, wheel: Wheel, idleMs: number, onAbort: () => void) {
    super();
    this.#onAbort = onAbort;
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
    upstream.on('error', () => this.#abort());
    upstream.on('close', () => this.#onUpstreamEnd());
    upstream.resume();
    this.#watch();
  }

  /** Starts with the bytes that arrived behind the upstream's head. */
  begin(rest: Buffer): void {
    if (rest.length > 0) this.#onBytes(rest);
    // The upstream may have closed before the listeners were added.
    if (this.#upstream.closed) this.#onUpstreamEnd();
  }

  /** Sends data from the client to the upstream. Returns false when there is no room for more. */
  onData(chunk: Buffer): boolean {
    this.#carriedMs = this.#wheel.nowMs;
    return this.#upstream.write(Buffer.from(chunk));
  }

  /** Ends the direction to the upstream: the client has ended. */
  onEnd(): void {
    this.#upstream.end();
    this.#idleMs = this.#idleMs === 0 ? halfOpenMs : Math.min(this.#idleMs, halfOpenMs);
    this.#carriedMs = this.#wheel.nowMs;
    this.#watch();
  }

  /** Resumes the upstream: the client has room. */
  onRoom(): void {
    this.#upstream.resume();
  }

  /** Ends the tunnel: the stream is closed. */
  onOver(): void {
    this.#stream = undefined;
    this.#wheel.remove(this);
    this.#upstream.destroySoon();
  }

  override onDeadline(): void {
    if (this.#wheel.nowMs - this.#carriedMs < this.#idleMs) this.#watch();
    else this.#abort();
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

  #abort(): void {
    if (this.#stream === undefined) return;
    this.onOver();
    this.#upstream.destroy();
    this.#onAbort();
  }
}
