// Proxy gate: a connection of a trusted proxy until its PROXY head is whole. The addresses in it take the place of the
// socket's; the bytes behind it go to what serves the port.

import { readProxyHeader } from '../socket/proxy-header.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import type { UnfinishedHeads } from '../socket/unfinished-heads.ts';
import type { Wheel } from '../wheel.ts';
import { Gate } from './gate.ts';
import type { BegunHandshake } from './listener-service.ts';

export interface ProxyGateOwner {
  /** Called with the connection and the bytes behind the head. */
  onProxied(gate: ProxyGate, begun: BegunHandshake): void;
  /** Called when the connection is gone. No reason: it ended before its first byte. */
  onNotProxied(gate: ProxyGate, reason: string | undefined): void;
}

export class ProxyGate extends Gate {
  readonly #owner: ProxyGateOwner;
  readonly #handle: TcpHandle;
  readonly #isRequired: boolean;

  /** `withinMs` 0 = no limit. */
  constructor(
    handle: TcpHandle,
    isRequired: boolean,
    owner: ProxyGateOwner,
    wheel: Wheel,
    heads: UnfinishedHeads,
    withinMs: number,
  ) {
    super(handle, wheel, heads, withinMs);
    this.#owner = owner;
    this.#handle = handle;
    this.#isRequired = isRequired;
  }

  protected override read(content: Buffer): void {
    const header = readProxyHeader(content);
    if (header === 'more') this.wait(content);
    else if (header === 'invalid' || (header === 'none' && this.#isRequired)) this.refuse('proxy_header');
    else if (header === 'none') this.#pass(content);
    else {
      this.#handle.hasProxyHeader = true;
      this.#handle.proxied = header.places;
      this.#pass(content.subarray(header.length));
    }
  }

  protected override onEnd(reason: string | undefined): void {
    this.#owner.onNotProxied(this, reason);
  }

  #pass(bytes: Buffer): void {
    const spentMs = this.open();
    this.#owner.onProxied(this, { handle: this.#handle, bytes, spentMs });
  }
}
