// What Node's sockets under TLS are made of, below what it documents: a handle around that of the connection, which
// encrypts what is written to it and delivers what it has decrypted. Beside socket/stream-handle.ts this relies on how
// Node is built; unit tests hold that it still is.
import { type SecureContext, TLSSocket } from 'node:tls';
import type { StreamHandle, TcpHandle } from '../socket/stream-handle.ts';

/** What OpenSSL knows of a context. */
export type NativeContext = object;

export interface TlsHandle extends StreamHandle {
  /** May be called more than once. Within OpenSSL: the connection may be closed by then, but not destroyed. */
  onhandshakedone: () => void;
  /** The connection is of no use any more. */
  onerror: (error: NodeJS.ErrnoException) => void;
  /** The client has said whom it wants; the handshake goes on with `certCbDone`. */
  oncertcb: (hello: { readonly servername?: string }) => void;
  enableCertCb(): void;
  certCbDone(): void;
  setKeyCert(context: NativeContext): void;
  /** Not empty: the server name is acknowledged, and belongs to the session. */
  sni_context: NativeContext | undefined;
  onnewsession: (id: Buffer, session: Buffer) => void;
  enableSessionCallbacks(): void;
  setSession(session: Buffer): void;
  /** Bytes that came on the connection before the handle was made. */
  receive(bytes: Buffer): void;
  setServername(name: string): void;
  setALPNProtocols(list: Buffer): void;
  setVerifyMode(ask: boolean, insist: boolean): void;
  /** A client says hello. */
  start(): void;
  getServername(): string | false;
  getALPNNegotiatedProtocol(): string | false;
  getProtocol(): string | null;
  isSessionReused(): boolean;
  verifyError(): NodeJS.ErrnoException | null | undefined;
  /** Frees what OpenSSL holds of the connection. Not to be called within it. */
  destroySSL(): void;
}

interface TlsBinding {
  wrap(handle: TcpHandle, context: NativeContext, isServer: boolean, hasWrites: boolean): TlsHandle;
}

const binding: TlsBinding = Reflect.apply(Reflect.get(process, 'binding'), process, ['tls_wrap']);
if (typeof binding.wrap !== 'function' || !('getPeerX509Certificate' in TLSSocket.prototype))
  throw new Error('this version of Node.js is not supported');

/** From now on the connection is read and written through the handle only. */
export const secureHandle = (tcp: TcpHandle, context: SecureContext, isServer: boolean): TlsHandle =>
  binding.wrap(tcp, nativeOf(context), isServer, false);

export const nativeOf = (context: SecureContext): NativeContext => context.context;

/** Names of protocols as ALPN sends them (RFC 7301 §3.1), the preferred first. */
export const alpnList = (protocols: readonly string[]): Buffer =>
  Buffer.concat(protocols.flatMap((name) => [Buffer.of(name.length), Buffer.from(name, 'latin1')]));
