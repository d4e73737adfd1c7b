// Proxy gate: a connection of a trusted proxy until its PROXY head is whole. The addresses in it take the place of the
// socket's; the bytes behind it go to what serves the port.

import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import type { SocketReceiver } from '../socket/byte-socket.ts';
import { readProxyHeader } from '../socket/proxy-header.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { TcpSocket } from '../socket/tcp-socket.ts';
import type { HeadHolder, UnfinishedHeads } from '../socket/unfinished-heads.ts';
import { Timed, type Wheel } from '../wheel.ts';
import type { BegunHandshake } from './listener-service.ts';

export interface ProxyGateOwner {
  /** Called with the connection and the bytes behind the head. */
  onProxied(gate: ProxyGate, begun: BegunHandshake): void;
  /** Called when the connection is gone. No reason: it ended before its first byte. */
  onNotProxied(gate: ProxyGate, reason: string | undefined): void;
}

export class ProxyGate extends Timed implements SocketReceiver, HeadHolder {
  headBytes = 0;
  readonly #owner: ProxyGateOwner;
  readonly #wheel: Wheel;
  readonly #heads: UnfinishedHeads;
  readonly #handle: TcpHandle;
  readonly #isRequired: boolean;
  readonly #wire: TcpSocket;
  readonly #bytes = new ReceiveBuffer();
  readonly #startedMs: number;
  #settled = false;
  /** True once a whole head was read. */
  hasHeader = false;

  /** `withinMs` 0 = no limit. */
  constructor(
    handle: TcpHandle,
    isRequired: boolean,
    owner: ProxyGateOwner,
    wheel: Wheel,
    heads: UnfinishedHeads,
    withinMs: number,
  ) {
    super();
    this.#owner = owner;
    this.#wheel = wheel;
    this.#heads = heads;
    this.#handle = handle;
    this.#isRequired = isRequired;
    this.#startedMs = wheel.nowMs;
    if (withinMs > 0) wheel.arm(this, withinMs);
    const wire = new TcpSocket(handle, { halfOpen: true });
    this.#wire = wire;
    wire.receiver = this;
    for (const event of ['error', 'end', 'close'] as const) wire.on(event, this.#onGone);
    wire.resume();
  }

  onBytes(bytes: Buffer, length: number): void {
    if (this.#settled) return;
    this.#bytes.append(bytes, 0, length);
    const { content } = this.#bytes;
    const header = readProxyHeader(content);
    if (header === 'more') this.#heads.hold(this, content.length);
    else if (header === 'invalid' || (header === 'none' && this.#isRequired)) this.#end('proxy_header');
    else if (header === 'none') this.#pass(content);
    else {
      this.hasHeader = true;
      this.#handle.proxied = header.places;
      this.#pass(content.subarray(header.length));
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

  #pass(bytes: Buffer): void {
    this.#settle();
    this.#wire.pause();
    this.#owner.onProxied(this, {
      handle: this.#handle,
      bytes,
      spentMs: this.#wheel.nowMs - this.#startedMs,
    });
  }

  #end(reason: string | undefined): void {
    if (this.#settled) return;
    this.#settle();
    this.#wire.destroy();
    this.#owner.onNotProxied(this, reason);
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
