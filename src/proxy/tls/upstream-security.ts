// TLS of the connections to one destination: trusted authorities, verified name, client certificate, and the sessions
// of each endpoint that can be resumed. Plaintext is never a substitute.
import type { Destination } from '../../model/destination.ts';
import type { SubjectAltName } from '../../model/subject-alt-name.ts';
import type { Security } from '../socket/security.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import {
  contextOf,
  type DestinationTls,
  hasOneOf,
  isFor,
  sentName,
  tlsOf,
  verifiedName,
} from './destination-material.ts';
import { SecureSocket } from './secure-socket.ts';
import { alpnList } from './tls-handle.ts';

/** Protocol above TLS. */
export interface OfferedProtocol {
  /** Name in ALPN (RFC 7301). */
  readonly alpn: string;
  /** Name for error messages. */
  readonly title: string;
}

export class UpstreamSecurity {
  readonly #tls: DestinationTls;
  readonly #name: string;
  /** Names of which the certificate must have one; empty: it must be for the server name. */
  readonly #names: readonly SubjectAltName[];
  /** Protocol offered by ALPN, and no other; undefined: none is offered. */
  readonly #protocol: OfferedProtocol | undefined;
  /**
   * Latest session of each endpoint, by `host:port`, of verified connections only: a resumed one shows no
   * certificate.
   */
  readonly #sessions = new Map<string, Session>();
  /** The same with another protocol, by that. */
  readonly #others = new Map<OfferedProtocol | undefined, UpstreamSecurity>();

  private constructor(tls: DestinationTls, name: string, protocol: OfferedProtocol | undefined) {
    this.#tls = tls;
    this.#name = name;
    this.#names = tls.subjectAltNames ?? [];
    this.#protocol = protocol;
  }

  /** Returns undefined for a destination without TLS. */
  static of(destination: Destination, protocol: OfferedProtocol): UpstreamSecurity | undefined {
    const tls = tlsOf(destination);
    return tls && new UpstreamSecurity(tls, verifiedName(destination, tls), protocol);
  }

  /** Returns the same for connections with another protocol; undefined: only their clients know it. */
  offering(protocol: OfferedProtocol | undefined): UpstreamSecurity {
    const known = this.#others.get(protocol);
    if (known !== undefined) return known;
    const other = new UpstreamSecurity(this.#tls, this.#name, protocol);
    this.#others.set(protocol, other);
    return other;
  }

  /** Begins a handshake with the endpoint. Throws MaterialProblem; the caller then still owns the connection. */
  secure(handle: TcpHandle, endpoint: string): SecureSocket {
    const context = contextOf(this.#tls);
    const known = this.#sessions.get(endpoint);
    const former = known !== undefined && known.endsMs > Date.now() ? known : undefined;
    const socket = SecureSocket.connect(handle, {
      context,
      protocols: alpnList(this.#protocol === undefined ? [] : [this.#protocol.alpn]),
      serverName: sentName(this.#name),
      session: former?.ticket,
      onSession: (ticket) => {
        const endsMs = socket.peerCertificate?.validToDate.getTime() ?? former?.endsMs ?? 0;
        this.#sessions.set(endpoint, { ticket, endsMs });
      },
    });
    return socket;
  }

  /**
   * Returns the result of a handshake. A text: the reason why the endpoint is not the expected one, for error
   * messages.
   */
  verify(socket: SecureSocket): Security | string {
    const { distrust } = socket;
    if (distrust !== undefined) return `its certificate is not trusted: ${distrust}`;
    if (!socket.resumed && !this.#isExpected(socket)) return `its certificate is not for ${this.#expected}`;
    const protocol = socket.protocol || 'http/1.1';
    const wanted = this.#protocol;
    if (wanted !== undefined && protocol !== wanted.alpn) return `it does not speak ${wanted.title} over TLS`;
    return {
      version: socket.version,
      serverName: this.#name,
      protocol,
      resumed: socket.resumed,
      client: undefined,
      showsCertificate: this.#tls.mode === 'mtls',
      covers: () => true,
    };
  }

  get #expected(): string {
    return this.#names.length === 0 ? this.#name : this.#names.map(({ value }) => value).join(', ');
  }

  #isExpected({ peerCertificate }: SecureSocket): boolean {
    if (peerCertificate === undefined) return false;
    return this.#names.length === 0 ? isFor(peerCertificate, this.#name) : hasOneOf(peerCertificate, this.#names);
  }

  /** Forgets a session that did not lead to a connection. */
  forget(endpoint: string): void {
    this.#sessions.delete(endpoint);
  }
}

interface Session {
  readonly ticket: Buffer;
  /** Expiry of the endpoint's certificate, Unix milliseconds. */
  readonly endsMs: number;
}
