// TLS terminator of a listener: takes accepted handles and returns connections with their handshake done. Replaced
// whole when the configuration changes; open connections keep the one they began with.
import { constants, createHash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { ListenerTls } from '../../model/listener-tls.ts';
import { type TicketSecrets, ticketLifeMs } from '../shared/ticket-secrets.ts';
import type { Security } from '../socket/security.ts';
import { type TcpHandle, writeRequest } from '../socket/stream-handle.ts';
import { canonicalHost } from '../target/host.ts';
import { type Certificate, covers, load } from './certificate.ts';
import { PeerCertificate } from './client-certificate.ts';
import type { HelloReading } from './client-hello.ts';
import { Contexts } from './contexts.ts';
import { type ListenerMaterial, requestsCertificate, verifiesCertificate } from './listener-material.ts';
import { SecureSocket, type ServerSide } from './secure-socket.ts';
import { openingTickets, type TicketReader, useTicketKeys } from './ticket-keys.ts';
import { alpnList } from './tls-handle.ts';
import { type VersionOptions, versionOptions } from './versions.ts';

/**
 * Alert sent in plaintext before the first handshake message: fatal, unrecognized_name (RFC 8446 §6, RFC 6066 §3).
 */
export const unrecognizedName = Uint8Array.of(21, 3, 3, 0, 2, 2, 112);

export class TlsTerminator {
  readonly #tls: ListenerTls;
  readonly #versions: VersionOptions;
  readonly #material: ListenerMaterial;
  /** Versions, trust and tickets; its key comes from one of `#contexts`, where there is more than one. */
  readonly #base: SecureContext;
  readonly #contexts: Contexts;
  readonly #side: ServerSide;
  readonly #onlyOne: boolean;
  readonly #tickets: TicketReader;
  /** Base with the key of the listener's own certificate; made on first use. */
  #own: SecureContext | undefined;
  readonly #nameless: () => SecureContext;

  /** `protocols` are those of ALPN, the preferred first. */
  constructor(tls: ListenerTls, material: ListenerMaterial, secrets: TicketSecrets, protocols: readonly string[]) {
    this.#tls = tls;
    this.#versions = versionOptions(tls);
    this.#material = material;
    const trusted = requestsCertificate(tls) ? tls.clientAuth?.ca : undefined;
    this.#contexts = new Contexts(trusted);
    const newBase = (options = 0): SecureContext =>
      createSecureContext({
        ...this.#versions,
        ca: trusted ?? [],
        honorCipherOrder: true,
        secureOptions: constants.SSL_OP_NO_RENEGOTIATION | options,
        sessionIdContext: createHash('sha256').update(material.scope).digest('hex').slice(0, 32),
        sessionTimeout: ticketLifeMs / 1_000,
      });
    this.#base = newBase();
    this.#nameless = () => {
      // Tickets of OpenSSL's own keys would resume a session under another server name.
      this.#own ??= loaded(newBase(constants.SSL_OP_NO_TICKET), material.own);
      return this.#own;
    };
    this.#tickets = useTicketKeys(this.#base, secrets, material.scope);
    const side = {
      context: this.#base,
      protocols: alpnList(protocols),
      requestCertificate: requestsCertificate(tls),
      requireCertificate: tls.clientAuth?.mode === 'require',
    };
    this.#side = side;
    // A single certificate leaves nothing to choose.
    this.#onlyOne = material.count === 0 && tls.unknownServerName !== 'reject';
    if (this.#onlyOne) load(this.#base, material.own);
  }

  /**
   * Accepts a connection. `refused` is called when no certificate matches the requested name; the connection ends
   * then.
   */
  accept(handle: TcpHandle, refused: () => void): SecureSocket {
    if (this.#onlyOne) return SecureSocket.accept(handle, this.#side);
    const choose = (serverName: string): SecureContext | undefined => {
      const certificate = this.#certificateFor(canonicalHost(serverName));
      if (certificate !== undefined) return this.#contexts.of(certificate);
      handle.writeBuffer(writeRequest(), unrecognizedName);
      refused();
      return undefined;
    };
    return SecureSocket.accept(handle, { ...this.#side, choose, nameless: this.#nameless });
  }

  /**
   * Gives the first bytes of a client to TLS. A session is resumed only under the server name that it was made for.
   */
  begin(socket: SecureSocket, hello: HelloReading, bytes: Buffer): void {
    const receive = (): void => socket.receive(bytes);
    if (typeof hello !== 'string' && this.#tickets.allows(hello)) openingTickets(receive);
    else receive();
  }

  /** Returns the result of a handshake. A text: the reason why it is refused, although both sides completed it. */
  verify(socket: SecureSocket): Security | string {
    const serverName = canonicalHost(socket.serverName);
    const certificate = this.#certificateFor(serverName);
    if (certificate === undefined) return 'unrecognized_name';
    const client = verifiesCertificate(this.#tls) ? clientOf(socket, this.#material.trust) : undefined;
    if (this.#side.requestCertificate) forgetErrors(socket);
    if (typeof client === 'string') return client;
    return {
      version: socket.version,
      serverName,
      protocol: socket.protocol || 'http/1.1',
      resumed: socket.resumed,
      client,
      covers: this.#tls.strictServerName === true ? (host) => covers(certificate, host) : everything,
    };
  }

  /**
   * Returns whether a connection that was secured under other settings would be accepted under these; names aside.
   */
  admits({ client, version }: Security): boolean {
    const { minVersion, maxVersion } = this.#versions;
    // Their names are in order as texts.
    if (version < minVersion || version > maxVersion) return false;
    return client === undefined ? this.#tls.clientAuth?.mode !== 'require' : client.trustedBy === this.#material.trust;
  }

  /** Returns undefined when the name is refused. */
  #certificateFor(serverName: string): Certificate | undefined {
    const { own, declared, named } = this.#material;
    if (serverName === '') return own;
    const found = declared.find(serverName) ?? named.find(serverName);
    if (found !== undefined || this.#tls.unknownServerName !== 'reject') return found ?? own;
    return covers(own, serverName) ? own : undefined;
  }
}

function loaded(context: SecureContext, certificate: Certificate): SecureContext {
  load(context, certificate);
  return context;
}

const everything = (): boolean => true;

/**
 * Empties OpenSSL's queue of errors. A certificate that does not verify leaves one in it, which would be taken for a failure
 * of what the thread reads next; Node empties the queue where it reads names of a certificate.
 */
function forgetErrors({ peerCertificate }: SecureSocket): void {
  void peerCertificate?.subject;
}

/** Returns a text for a client certificate that is refused: the reason. */
function clientOf(socket: SecureSocket, trustedBy: string): PeerCertificate | string | undefined {
  const x509 = socket.peerCertificate;
  if (x509 === undefined) return undefined;
  const { distrust } = socket;
  if (distrust !== undefined) return `client_certificate_${distrust.toLowerCase()}`;
  // A session remembers that it was verified, not for how long that holds.
  const ended = socket.resumed && x509.validToDate.getTime() < Date.now();
  return ended ? 'client_certificate_cert_has_expired' : new PeerCertificate(x509, trustedBy);
}
