// How the connections of one destination are secured: whom it trusts, under which name, with which certificate of its
// own, and which sessions of each endpoint can go on. Never is plaintext a substitute.
import type { Destination } from '../../model/destination.ts';
import type { Security } from '../socket/security.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { contextOf, type DestinationTls, isFor, sentName, tlsOf, verifiedName } from './destination-material.ts';
import { SecureSocket } from './secure-socket.ts';
import { alpnList } from './tls-handle.ts';

export class UpstreamSecurity {
  readonly #tls: DestinationTls;
  readonly #name: string;
  /** Offered by ALPN: what the destination is spoken to in, and nothing else. */
  readonly #protocol: 'h2' | 'http/1.1';
  /**
   * The latest of each endpoint, by `host:port`. Only of connections whose certificate was found good: one that goes on
   * shows none.
   */
  readonly #sessions = new Map<string, Session>();
  #http1: UpstreamSecurity | undefined;

  private constructor(tls: DestinationTls, name: string, protocol: 'h2' | 'http/1.1') {
    this.#tls = tls;
    this.#name = name;
    this.#protocol = protocol;
  }

  /** Undefined where bytes travel as they are. */
  static of(
    destination: Destination,
    protocol: 'h2' | 'http/1.1' = destination.options?.http2 === true ? 'h2' : 'http/1.1',
  ): UpstreamSecurity | undefined {
    const tls = tlsOf(destination);
    return tls && new UpstreamSecurity(tls, verifiedName(destination, tls), protocol);
  }

  /** The same for connections that are to speak HTTP/1.1 whatever the destination is spoken to in. */
  get http1(): UpstreamSecurity {
    this.#http1 ??= new UpstreamSecurity(this.#tls, this.#name, 'http/1.1');
    return this.#http1;
  }

  /** Begins a handshake with the endpoint. Throws MaterialProblem; the connection is the caller's then. */
  secure(handle: TcpHandle, endpoint: string): SecureSocket {
    const context = contextOf(this.#tls);
    const known = this.#sessions.get(endpoint);
    const former = known !== undefined && known.endsMs > Date.now() ? known : undefined;
    const socket = SecureSocket.connect(handle, {
      context,
      protocols: alpnList([this.#protocol]),
      serverName: sentName(this.#name),
      session: former?.ticket,
      onSession: (ticket) => {
        const endsMs = socket.peerCertificate?.validToDate.getTime() ?? former?.endsMs ?? 0;
        this.#sessions.set(endpoint, { ticket, endsMs });
      },
    });
    return socket;
  }

  /** What a handshake came to. A text: why the endpoint is not whom it should be, for people. */
  judge(socket: SecureSocket): Security | string {
    const { distrust } = socket;
    if (distrust !== undefined) return `its certificate is not trusted: ${distrust}`;
    if (!socket.resumed && !isShownFor(socket, this.#name)) return `its certificate is not for ${this.#name}`;
    const protocol = socket.protocol || 'http/1.1';
    if (protocol !== this.#protocol)
      return `it does not speak ${this.#protocol === 'h2' ? 'HTTP/2' : 'HTTP/1.1'} over TLS`;
    return {
      version: socket.version,
      serverName: this.#name,
      protocol,
      resumed: socket.resumed,
      client: undefined,
      covers: () => true,
    };
  }

  /** A session that did not lead to a connection is not tried again. */
  forget(endpoint: string): void {
    this.#sessions.delete(endpoint);
  }
}

interface Session {
  readonly ticket: Buffer;
  /** When the certificate that was shown expires, Unix milliseconds. */
  readonly endsMs: number;
}

function isShownFor({ peerCertificate }: SecureSocket, name: string): boolean {
  return peerCertificate !== undefined && isFor(peerCertificate, name);
}
