// Proxy admission: whether a connection of a listener begins with a PROXY head, by its peer. Heads of strangers are not
// believed: anyone can write one.
import { listenerDefaults } from '../../model/defaults.ts';
import type { Listener } from '../../model/listener.ts';
import { plainIp, TrustedProxies } from '../message/client-address.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';

/** `direct`: it has no head. `refused`: it has to have one, which would not be believed. */
export type Admitted = 'direct' | 'refused' | 'optional' | 'required';

export class ProxyAdmission {
  readonly #mode: 'off' | 'optional' | 'required';
  readonly #trusted: TrustedProxies;

  constructor({ proxyProtocol = listenerDefaults.proxyProtocol, trustedProxies = [] }: Listener) {
    this.#mode = proxyProtocol;
    this.#trusted = new TrustedProxies(proxyProtocol === 'off' ? [] : trustedProxies);
  }

  of(handle: TcpHandle): Admitted {
    if (this.#mode === 'off') return 'direct';
    const peer: { address?: string } = {};
    const isTrusted = handle.getpeername(peer) === 0 && this.#trusted.has(plainIp(peer.address ?? ''));
    if (isTrusted) return this.#mode;
    return this.#mode === 'required' ? 'refused' : 'direct';
  }
}
