// Who sends the requests of one connection: its other end, and what proxies that are trusted say in their fields. Found
// once for all requests of a peer that is not trusted.
import { type FieldLines, valuesOf } from '../fields/field-lines.ts';
import { fieldId } from '../fields/field-name.ts';
import type { Security } from '../socket/security.ts';
import type { TrustedProxies } from './client-address.ts';
import type { DownstreamAddress } from './request.ts';

export class Sender {
  readonly #peer: string;
  readonly #security: Security | undefined;
  #found: DownstreamAddress | undefined;
  /** What it was found by. */
  #rule: TrustedProxies | undefined;

  /** `peer`: address of the socket's other end. */
  constructor(peer: string, security: Security | undefined) {
    this.#peer = peer;
    this.#security = security;
  }

  /** `lines`: of the request's head. */
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
