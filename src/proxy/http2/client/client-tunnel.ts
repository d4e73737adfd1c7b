// WebSocket on a stream of a connection to an upstream (RFC 8441), once the upstream has accepted it: gives a tunnel
// the interface of a socket.
import { EventEmitter } from 'node:events';
import type { SocketReceiver } from '../../socket/byte-socket.ts';
import type { TunnelEnd } from '../../socket/tunnel-end.ts';
import { Deadline, type Wheel } from '../../wheel.ts';
import { errorCode } from '../error-code.ts';
import type { Stream, StreamEnd, StreamReceiver } from '../stream.ts';

/** Milliseconds that the upstream may go on sending after our side has ended. */
const lingerMs = 1_000;

export class ClientTunnel extends EventEmitter implements TunnelEnd, StreamReceiver {
  receiver: SocketReceiver | undefined;
  closed = false;
  /** Undefined after the end. */
  #stream: Stream | undefined;
  readonly #wheel: Wheel;
  readonly #linger: Deadline;
  /** True once received data is dropped. */
  #dropping = false;

  /** Takes a paused stream, which delivers nothing until `resume`. */
  constructor(stream: Stream, wheel: Wheel) {
    super();
    this.#stream = stream;
    this.#wheel = wheel;
    this.#linger = new Deadline(() => this.destroy());
    stream.receiver = this;
  }

  write(bytes: Buffer): boolean {
    return this.#stream === undefined || this.#stream.sendData(bytes);
  }

  end(): void {
    this.#stream?.sendEnd();
  }

  destroy(): void {
    const stream = this.#stream;
    this.#over();
    stream?.reset(errorCode.cancel);
  }

  destroySoon(): void {
    if (this.#stream === undefined || this.#dropping) return;
    this.#dropping = true;
    this.#wheel.arm(this.#linger, lingerMs);
    this.#stream.sendEnd();
    this.#stream?.resume();
  }

  /** Does nothing: the two directions of a stream end independently. */
  keepOpen(): void {}

  pause(): void {
    if (!this.#dropping) this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }

  /** Does nothing: the connection itself sends PINGs. */
  setKeepAlive(): void {}

  // Callbacks of the stream.

  onHead(): void {}

  onData(_stream: Stream, chunk: Buffer): boolean {
    if (!this.#dropping) this.receiver?.onBytes(chunk, chunk.length);
    return true;
  }

  onEnd(): void {
    this.emit('end');
  }

  onRoom(): void {
    this.emit('drain');
  }

  onOver(): void {
    this.#over();
  }

  onReset(_stream: Stream, { message }: StreamEnd): void {
    this.#stream = undefined;
    // Node throws an `error` event without a listener.
    if (this.listenerCount('error') > 0) this.emit('error', new Error(message));
    this.#over();
  }

  #over(): void {
    this.#stream = undefined;
    this.#wheel.remove(this.#linger);
    if (this.closed) return;
    this.closed = true;
    this.emit('close');
  }
}
