// A listener's side of TLS: connections go in as the system has them and come out with their handshake done. It is
// replaced whole when the configuration changes; connections under way keep the one they began with.
import { constants, createHash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { ListenerTls } from '../../model/listener-tls.ts';
import { type TicketSecrets, ticketLifeMs } from '../shared/ticket-secrets.ts';
import { writeTo } from '../socket/accepting.ts';
import type { Security } from '../socket/security.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { type Certificate, covers } from './certificate.ts';
import { PeerCertificate } from './client-certificate.ts';
import { Contexts } from './contexts.ts';
import { asks, type ListenerMaterial } from './listener-material.ts';
import { SecureSocket, type ServerSide } from './secure-socket.ts';
import { useTicketKeys } from './ticket-keys.ts';
import { versionOptions } from './versions.ts';

/** Before the first word of ours a refusal is plain: alert, fatal, unrecognized_name (RFC 8446 §6, RFC 6066 §3). */
const unrecognizedName = Uint8Array.of(21, 3, 3, 0, 2, 2, 112);

export class TlsTerminator {
  readonly #tls: ListenerTls;
  readonly #material: ListenerMaterial;
  /** Versions, trust and tickets; its key comes from one of `#contexts`. */
  readonly #base: SecureContext;
  readonly #contexts: Contexts;
  readonly #protocols: readonly string[];

  /** `protocols` are what ALPN offers, the preferred first. */
  constructor(tls: ListenerTls, material: ListenerMaterial, secrets: TicketSecrets, protocols: readonly string[]) {
    this.#tls = tls;
    this.#material = material;
    this.#protocols = protocols;
    const trusted = asks(tls) ? tls.clientAuth?.ca : undefined;
    this.#contexts = new Contexts(trusted);
    this.#base = createSecureContext({
      ...versionOptions(tls),
      ca: trusted ?? [],
      honorCipherOrder: true,
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      sessionIdContext: createHash('sha256').update(material.scope).digest('hex').slice(0, 32),
      sessionTimeout: ticketLifeMs / 1_000,
    });
    useTicketKeys(this.#base, secrets, material.scope);
  }

  /** `refused` is told when the name that the client asks for is nobody's here; the connection ends then. */
  accept(handle: TcpHandle, refused: () => void): SecureSocket {
    const side: ServerSide = {
      context: this.#base,
      protocols: this.#protocols,
      askForCertificate: asks(this.#tls),
      insistOnCertificate: this.#tls.clientAuth?.mode === 'require',
      choose: (serverName) => {
        const certificate = this.#certificateFor(serverName.toLowerCase());
        if (certificate !== undefined) return this.#contexts.of(certificate);
        writeTo(handle, unrecognizedName);
        refused();
        return undefined;
      },
    };
    return SecureSocket.accept(handle, side);
  }

  /** What a handshake came to. A text: why it does not count, although the two sides could talk. */
  judge(wire: SecureSocket): Security | string {
    const serverName = (wire.servername || '').toLowerCase();
    const certificate = this.#certificateFor(serverName);
    if (certificate === undefined) return 'unrecognized_name';
    const client = asks(this.#tls) ? clientOf(wire) : undefined;
    if (typeof client === 'string') return client;
    return {
      version: wire.getProtocol() ?? '',
      serverName,
      protocol: wire.alpnProtocol || 'http/1.1',
      resumed: wire.isSessionReused(),
      client,
      covers: this.#tls.strictServerName === true ? (host) => covers(certificate, host) : everything,
    };
  }

  /** Undefined: the name is to be refused. */
  #certificateFor(serverName: string): Certificate | undefined {
    const { own, named } = this.#material;
    if (serverName === '') return own;
    const found = named.find(serverName);
    if (found !== undefined || this.#tls.unknownServerName !== 'reject') return found ?? own;
    return covers(own, serverName) ? own : undefined;
  }
}

const everything = (): boolean => true;

/** A text: why the certificate that the client showed does not count. */
function clientOf(wire: SecureSocket): PeerCertificate | string | undefined {
  const x509 = wire.getPeerX509Certificate();
  if (x509 === undefined) return undefined;
  const { distrust } = wire;
  if (distrust !== undefined) return `client_certificate_${distrust.toLowerCase()}`;
  // A session remembers that it was verified, not for how long that holds.
  const ended = wire.isSessionReused() && x509.validToDate.getTime() < Date.now();
  return ended ? 'client_certificate_cert_has_expired' : new PeerCertificate(x509);
}
