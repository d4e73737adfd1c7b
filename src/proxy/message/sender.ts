// Sender of the requests of one connection: the remote address, and the client that trusted proxies name in their
// fields. Computed once for all requests of a peer that is not trusted.
import { type FieldLines, valuesOf } from '../fields/field-lines.ts';
import { fieldId } from '../fields/field-name.ts';
import type { ByteSocket } from '../socket/byte-socket.ts';
import type { ProxiedPlaces, ProxiedTls } from '../socket/proxy-header.ts';
import type { Security } from '../socket/security.ts';
import type { TrustedProxies } from './client-address.ts';
import { type ClientEnds, proxiedTlsOf } from './client-ends.ts';
import type { DownstreamAddress } from './request.ts';

type SenderSocket = Pick<ByteSocket, 'once' | 'places' | 'remoteAddress' | 'security'>;

export class Sender implements ClientEnds {
  readonly #socket: SenderSocket;
  readonly #peer: string;
  readonly #security: Security | undefined;
  #found: DownstreamAddress | undefined;
  /** Trusted proxies used for the cached result. */
  #rule: TrustedProxies | undefined;

  constructor(socket: SenderSocket) {
    this.#socket = socket;
    this.#peer = socket.remoteAddress ?? '';
    this.#security = socket.security;
  }

  get places(): ProxiedPlaces | undefined {
    return this.#socket.places;
  }

  onceClosed(act: () => void): void {
    this.#socket.once('close', act);
  }

  get proxiedTls(): ProxiedTls | undefined {
    return this.#security && proxiedTlsOf(this.#security);
  }

  /** `lines`: fields of the request's head. */
  of(lines: FieldLines, trusted: TrustedProxies): DownstreamAddress {
    if (this.#found !== undefined && this.#rule === trusted && !this.#found.peerTrusted) return this.#found;
    this.#rule = trusted;
    const chain = valuesOf(lines, fieldId.forwardedFor).join(',');
    const scheme = this.#security === undefined ? 'http' : 'https';
    const certificateUris = this.#security?.client?.forwarded ?? '';
    this.#found = { ...trusted.locate(this.#peer, chain), scheme, certificateUris, connection: this };
    return this.#found;
  }
}
