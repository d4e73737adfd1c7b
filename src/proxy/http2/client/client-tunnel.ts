// A WebSocket on a stream of a connection to an upstream (RFC 8441), once the upstream has taken it: what a tunnel sees
// in place of a socket.
import { EventEmitter } from 'node:events';
import type { SocketReceiver } from '../../socket/byte-socket.ts';
import type { TunnelEnd } from '../../socket/tunnel-end.ts';
import { Deadline, type Wheel } from '../../wheel.ts';
import { errorCode } from '../error-code.ts';
import type { Stream, StreamEnd, StreamReceiver } from '../stream.ts';

/** How long the upstream may go on talking after all has been said to it. */
const lingerMs = 1_000;

export class ClientTunnel extends EventEmitter implements TunnelEnd, StreamReceiver {
  receiver: SocketReceiver | undefined;
  closed = false;
  /** Undefined when it is over. */
  #stream: Stream | undefined;
  readonly #wheel: Wheel;
  readonly #linger: Deadline;
  /** Nobody wants to know what else comes. */
  #deaf = false;

  /** The stream is paused, and says nothing until `resume`. */
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
    if (this.#stream === undefined || this.#deaf) return;
    this.#deaf = true;
    this.#wheel.arm(this.#linger, lingerMs);
    this.#stream.sendEnd();
    this.#stream?.resume();
  }

  /** The sides of a stream end each for itself. */
  keepOpen(): void {}

  pause(): void {
    if (!this.#deaf) this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }

  /** The connection asks by itself whether the upstream is there. */
  setKeepAlive(): void {}

  // What comes on the stream.

  onHead(): void {}

  onData(_stream: Stream, chunk: Buffer): boolean {
    if (!this.#deaf) this.receiver?.onBytes(chunk, chunk.length);
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
    // Unheard, it would be thrown.
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
