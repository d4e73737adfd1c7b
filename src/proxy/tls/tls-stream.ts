// Interface of TLS handles: the internal ones of tls-handle.ts, and those over sockets of Node.
import type { StreamHandle } from '../socket/stream-handle.ts';

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
