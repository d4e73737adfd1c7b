// Sender of the requests of one connection: the remote address, and the client that trusted proxies name in their
// fields. Computed once for all requests of a peer that is not trusted.
import { type FieldLines, valuesOf } from '../fields/field-lines.ts';
import { fieldId } from '../fields/field-name.ts';
import type { Security } from '../socket/security.ts';
import type { TrustedProxies } from './client-address.ts';
import type { DownstreamAddress } from './request.ts';

export class Sender {
  readonly #peer: string;
  readonly #security: Security | undefined;
  #found: DownstreamAddress | undefined;
  /** Trusted proxies used for the cached result. */
  #rule: TrustedProxies | undefined;

  /** `peer`: remote address of the socket. */
  constructor(peer: string, security: Security | undefined) {
    this.#peer = peer;
    this.#security = security;
  }

  /** `lines`: fields of the request's head. */
  of(lines: FieldLines, trusted: TrustedProxies): DownstreamAddress {
    if (this.#found !== undefined && this.#rule === trusted && !this.#found.peerTrusted) return this.#found;
    this.#rule = trusted;
    const chain = valuesOf(lines, fieldId.forwardedFor).join(',');
    const scheme = this.#security === undefined ? 'http' : 'https';
    const certificateUris = this.#security?.client?.forwarded ?? '';
    this.#found = { ...trusted.locate(this.#peer, chain), scheme, certificateUris };
    return this.#found;
  }
}
