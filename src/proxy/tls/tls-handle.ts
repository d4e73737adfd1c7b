// TLS handle: the internal handle of Node's TLS sockets, below the documented API. It wraps the handle of the
// connection, encrypts written bytes and delivers decrypted ones. With socket/stream-handle.ts this relies on Node's
// internals; unit tests check that they still hold.
import { type SecureContext, TLSSocket } from 'node:tls';
import type { StreamHandle, TcpHandle } from '../socket/stream-handle.ts';

/** OpenSSL's context. */
export type NativeContext = object;

export interface TlsHandle extends StreamHandle {
  /** May be called more than once, within OpenSSL: the connection may be closed by then, but not destroyed. */
  onhandshakedone: () => void;
  /** Called when the connection is of no use any more. */
  onerror: (error: NodeJS.ErrnoException) => void;
  /** Called with the server name that the client requests; the handshake continues with `certCbDone`. */
  oncertcb: (hello: { readonly servername?: string }) => void;
  enableCertCb(): void;
  certCbDone(): void;
  setKeyCert(context: NativeContext): void;
  /** Not empty: the server name is acknowledged, and belongs to the session. */
  sni_context: NativeContext | undefined;
  onnewsession: (id: Buffer, session: Buffer) => void;
  enableSessionCallbacks(): void;
  setSession(session: Buffer): void;
  /** Takes bytes that arrived on the connection before the handle was made. */
  receive(bytes: Buffer): void;
  setServername(name: string): void;
  setALPNProtocols(list: Buffer): void;
  setVerifyMode(ask: boolean, insist: boolean): void;
  /** Sends ClientHello. */
  start(): void;
  getServername(): string | false;
  getALPNNegotiatedProtocol(): string | false;
  getProtocol(): string | null;
  isSessionReused(): boolean;
  verifyError(): NodeJS.ErrnoException | null | undefined;
  /** Frees OpenSSL's state of the connection. Not to be called within OpenSSL. */
  destroySSL(): void;
}

interface TlsBinding {
  wrap(handle: TcpHandle, context: NativeContext, isServer: boolean, hasWrites: boolean): TlsHandle;
}

const binding: TlsBinding = Reflect.apply(Reflect.get(process, 'binding'), process, ['tls_wrap']);
if (typeof binding.wrap !== 'function' || !('getPeerX509Certificate' in TLSSocket.prototype))
  throw new Error('this version of Node.js is not supported');

/** Wraps the connection, which is read and written through the new handle only. */
export const secureHandle = (tcp: TcpHandle, context: SecureContext, isServer: boolean): TlsHandle =>
  binding.wrap(tcp, nativeOf(context), isServer, false);

export const nativeOf = (context: SecureContext): NativeContext => context.context;

/** Returns names of protocols as ALPN sends them (RFC 7301 §3.1), the preferred first. */
export const alpnList = (protocols: readonly string[]): Buffer =>
  Buffer.concat(protocols.flatMap((name) => [Buffer.of(name.length), Buffer.from(name, 'latin1')]));
