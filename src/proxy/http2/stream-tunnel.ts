// A WebSocket between a stream of a client and a socket of an upstream (RFC 8441): bytes go both ways, each side
// waiting for the other. What the client sends after the upstream's end goes nowhere, as with any response.
import type { Wire } from '../socket/wire.ts';
import { Timed, type Wheel } from '../wheel.ts';
import { errorCode } from './error-code.ts';
import type { Stream } from './stream.ts';

/** With one side ended, the tunnel is cut when nothing has come for so long. */
const halfOpenMs = 60_000;
/** A silent tunnel may stay for ever, so the system asks after such a time whether the other end still exists. */
const keepAliveMs = 60_000;

export class StreamTunnel extends Timed {
  readonly #upstream: Wire;
  readonly #wheel: Wheel;
  /** Undefined when it is over. */
  #stream: Stream | undefined;
  /** Bytes have come since it was looked at last. */
  #carried = false;

  /** `rest` came behind the upstream's head. The owner of the stream hands on what comes. */
  constructor(stream: Stream, upstream: Wire, wheel: Wheel, rest: Buffer) {
    super();
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
    if (rest.length > 0) this.#onBytes(rest);
    upstream.resume();
  }

  /** From the client. */
  onData(chunk: Buffer): boolean {
    this.#carried = true;
    return this.#upstream.write(Buffer.from(chunk));
  }

  /** The client says no more. */
  onEnd(): void {
    this.#upstream.end();
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
    if (this.#carried) this.#watch();
    else this.#cut();
  }

  #onBytes(chunk: Buffer): void {
    this.#carried = true;
    if (this.#stream?.sendData(chunk) === false) this.#upstream.pause();
  }

  #onUpstreamEnd(): void {
    this.#stream?.sendEnd();
  }

  #watch(): void {
    this.#carried = false;
    if (this.#stream !== undefined) this.#wheel.arm(this, halfOpenMs);
  }

  #cut(): void {
    const stream = this.#stream;
    this.onOver();
    this.#upstream.destroy();
    stream?.reset(errorCode.connect);
  }
}
