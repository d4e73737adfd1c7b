// Hello gate: a connection of a listener that passes TLS through, until its ClientHello is whole. Nothing is decrypted,
// and the bytes go on as they came.

import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import type { SocketReceiver } from '../socket/byte-socket.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { TcpSocket } from '../socket/tcp-socket.ts';
import type { HeadHolder, UnfinishedHeads } from '../socket/unfinished-heads.ts';
import { type ClientHello, HelloReader } from '../tls/client-hello.ts';
import { Timed, type Wheel } from '../wheel.ts';
import type { BegunHandshake } from './listener-service.ts';

export interface GateOwner {
  /** Called with the hello and all bytes so far. The socket, which is paused, belongs to the owner from here on. */
  onHello(gate: HelloGate, wire: TcpSocket, hello: ClientHello, bytes: Buffer, spentMs: number): void;
  /** Called when the connection is gone. No reason: it ended before its first byte. */
  onNoHello(gate: HelloGate, reason: string | undefined): void;
}

const helloBytesMax = 64 * 1024;
/** Bounds of a hello of which each byte comes in a record of its own, with a head of five bytes. */
const bounds = { message: helloBytesMax, received: 6 * helloBytesMax };

export class HelloGate extends Timed implements SocketReceiver, HeadHolder {
  headBytes = 0;
  readonly #owner: GateOwner;
  readonly #wheel: Wheel;
  readonly #heads: UnfinishedHeads;
  readonly #wire: TcpSocket;
  readonly #bytes = new ReceiveBuffer();
  readonly #reader = new HelloReader(bounds);
  readonly #startedMs: number;
  #settled = false;

  /** `withinMs` 0 = no limit. `begun`: what the client has sent and used of its time before. */
  constructor(
    handle: TcpHandle,
    owner: GateOwner,
    wheel: Wheel,
    heads: UnfinishedHeads,
    withinMs: number,
    begun?: BegunHandshake,
  ) {
    super();
    this.#owner = owner;
    this.#wheel = wheel;
    this.#heads = heads;
    const spentMs = begun?.spentMs ?? 0;
    this.#startedMs = wheel.nowMs - spentMs;
    if (withinMs > 0) wheel.arm(this, Math.max(1, withinMs - spentMs));
    const wire = new TcpSocket(handle, { halfOpen: true, attached: begun !== undefined });
    this.#wire = wire;
    wire.receiver = this;
    wire.on('error', this.#onGone);
    wire.on('end', this.#onGone);
    wire.on('close', this.#onGone);
    wire.resume();
    // Never before the owner has the gate.
    if (begun !== undefined) process.nextTick(() => this.onBytes(begun.bytes, begun.bytes.length));
  }

  onBytes(bytes: Buffer, length: number): void {
    if (this.#settled) return;
    this.#bytes.append(bytes, 0, length);
    const { content } = this.#bytes;
    const hello = this.#reader.read(content);
    if (hello === 'more') this.#heads.hold(this, content.length);
    else if (hello === 'other') this.#end('no_client_hello');
    else {
      this.#settle();
      this.#wire.pause();
      this.#owner.onHello(this, this.#wire, hello, content, this.#wheel.nowMs - this.#startedMs);
    }
  }

  /** Aborts it; the owner does not wait any more. */
  destroy(): void {
    this.#end(undefined);
  }

  refuseHead(): void {
    this.#end('too_many_unfinished');
  }

  override onDeadline(): void {
    this.#end('timeout');
  }

  readonly #onGone = (): void => this.#end(this.#bytes.length === 0 ? undefined : 'client_closed');

  #end(reason: string | undefined): void {
    if (this.#settled) return;
    this.#settle();
    this.#wire.destroy();
    this.#owner.onNoHello(this, reason);
  }

  #settle(): void {
    this.#settled = true;
    this.#heads.hold(this, 0);
    this.#wheel.remove(this);
    const wire = this.#wire;
    wire.receiver = undefined;
    for (const event of ['error', 'end', 'close'] as const) wire.off(event, this.#onGone);
  }
}
