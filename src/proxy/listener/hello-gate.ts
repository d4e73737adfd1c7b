// Hello gate: a connection of a listener that passes TLS through, until its ClientHello is whole. Nothing is decrypted,
// and the bytes go on as they came.

import type { TcpHandle } from '../socket/stream-handle.ts';
import type { TcpSocket } from '../socket/tcp-socket.ts';
import type { UnfinishedHeads } from '../socket/unfinished-heads.ts';
import { type ClientHello, HelloReader } from '../tls/client-hello.ts';
import type { Wheel } from '../wheel.ts';
import { Gate } from './gate.ts';
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

export class HelloGate extends Gate {
  readonly #owner: GateOwner;
  readonly #reader = new HelloReader(bounds);

  /** `withinMs` 0 = no limit. `begun`: what the client has sent and used of its time before. */
  constructor(
    handle: TcpHandle,
    owner: GateOwner,
    wheel: Wheel,
    heads: UnfinishedHeads,
    withinMs: number,
    begun?: BegunHandshake,
  ) {
    super(handle, wheel, heads, withinMs, begun);
    this.#owner = owner;
  }

  protected override read(content: Buffer): void {
    const hello = this.#reader.read(content);
    if (hello === 'more') this.wait(content);
    else if (hello === 'other') this.refuse('no_client_hello');
    else this.#owner.onHello(this, this.wire, hello, content, this.open());
  }

  protected override onEnd(reason: string | undefined): void {
    this.#owner.onNoHello(this, reason);
  }
}
