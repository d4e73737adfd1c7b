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

  /** Returns the count of a connection that another listener of the port has begun, if it has to be closed. */
  refusalOf(handle: TcpHandle): 'malformed' | 'stranger' | undefined {
    const admitted = this.of(handle);
    if (admitted === 'refused') return 'stranger';
    if (handle.hasProxyHeader === true) return admitted === 'direct' ? 'stranger' : undefined;
    return admitted === 'required' ? 'malformed' : undefined;
  }
}

/** Returns how a connection begins that may be of either of two listeners of a port: each judges it later by itself. */
export function eitherOf(one: Admitted, other: Admitted): Admitted {
  if (one === other || other === 'refused') return one;
  return one === 'refused' ? other : 'optional';
}
