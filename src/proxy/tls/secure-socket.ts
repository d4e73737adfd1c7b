// Connection under TLS, directly on its handle, without a socket of Node's: it has the same receiver as a plain one,
// and decrypted bytes arrive in the shared read buffer of the thread.
import type { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import { type ByteSocket, drainedBytesMin, sharedReadBuffer } from '../socket/byte-socket.ts';
import { flushAtEndOfTick } from '../socket/end-of-tick.ts';
import { HandleSocket } from '../socket/handle-socket.ts';
import { PendingWrites } from '../socket/pending-writes.ts';
import type { Security } from '../socket/security.ts';
import { onWriteDone, streamState, type TcpHandle, writeRequest } from '../socket/stream-handle.ts';
import { NodeTlsHandle } from './node-tls-handle.ts';
import { nativeOf, peerCertificateOf, secureHandle } from './tls-handle.ts';
import type { TlsHandle } from './tls-stream.ts';

interface SecureSocketOptions {
  readonly context: SecureContext;
  /** Protocols for ALPN, in the form of `alpnList`; empty: none are spoken of. */
  readonly protocols: Buffer;
}

export interface ServerSide extends SecureSocketOptions {
  readonly requestCertificate: boolean;
  readonly requireCertificate: boolean;
  /**
   * Returns the context whose key the handshake uses; undefined refuses it. `serverName` is as the client sent it, or
   * empty. Without this function the key is that of `context`.
   */
  readonly choose?: (serverName: string) => SecureContext | undefined;
  /** Returns the context, with its key, for clients that send no server name; beside `choose`. */
  readonly nameless?: () => SecureContext;
}

export interface ClientSide extends SecureSocketOptions {
  /** Name for SNI; undefined sends none. */
  readonly serverName: string | undefined;
  /** Session of an earlier connection to the same endpoint. */
  readonly session: Buffer | undefined;
  /** Called for sessions that the server offers, for later connections; never before the socket is released. */
  onSession(session: Buffer): void;
}

export class SecureSocket extends HandleSocket implements ByteSocket {
  /** Set when the handshake is complete and accepted. */
  security: Security | undefined;
  truncated = false;
  readonly #tls: TlsHandle;
  /** True once 'secure' was emitted. */
  #secured = false;
  /** True while the receiver has paused reading. TLS still delivers bytes that it had decrypted by then. */
  #stopped = false;
  /** Bytes received while paused, in order; undefined: none. */
  #kept: ReceiveBuffer | undefined;
  #endKept = false;
  #delivering = false;
  /** True while a write is pending: TLS takes one at a time. */
  #writing = false;
  /** Latin-1; leaves at the end of the tick. */
  #text = '';
  /** Writes behind the pending one; undefined: none. */
  #pending: PendingWrites | undefined;
  #sentCloseNotify = false;
  /** True while a flush is scheduled for the end of the tick. */
  #flushScheduled = false;
  /** Session offered before the handshake was verified. */
  #session: Buffer | undefined;
  #onSession: ((session: Buffer) => void) | undefined;

  /** Takes ownership of the connection, which it will close. 'secure' or 'close' follows. */
  private constructor(tcp: TcpHandle, tls: TlsHandle, halfOpen: boolean) {
    super(tcp, tls, halfOpen);
    this.#tls = tls;
    tls.useUserBuffer(sharedReadBuffer);
    tls.onhandshakedone = () => this.#onHandshakeDone();
    tls.onerror = (error) => this.destroy(error);
  }

  static accept(tcp: TcpHandle, options: ServerSide): SecureSocket {
    const tls = secureHandle(tcp, options.context, true, options.nameless);
    const socket = new SecureSocket(tcp, tls, true);
    const { requestCertificate, requireCertificate } = options;
    if (requestCertificate || requireCertificate) tls.setVerifyMode(requestCertificate, requireCertificate);
    if (options.protocols.length > 0) tls.setALPNProtocols(options.protocols);
    tls.sni_context = nativeOf(options.context);
    const { choose } = options;
    if (choose !== undefined) {
      tls.oncertcb = ({ servername = '' }) => socket.#chooseKey(choose, servername);
      tls.enableCertCb();
    }
    socket.resume();
    return socket;
  }

  static connect(tcp: TcpHandle, options: ClientSide): SecureSocket {
    const tls = secureHandle(tcp, options.context, false);
    const socket = new SecureSocket(tcp, tls, false);
    // The certificate is verified after the handshake.
    tls.setVerifyMode(true, false);
    if (options.session !== undefined) tls.setSession(options.session);
    tls.onnewsession = (_id, session) => {
      if (socket.security === undefined) socket.#session = session;
      else options.onSession(session);
    };
    socket.#onSession = options.onSession;
    tls.enableSessionCallbacks();
    if (options.protocols.length > 0) tls.setALPNProtocols(options.protocols);
    if (options.serverName !== undefined) tls.setServername(options.serverName);
    socket.resume();
    tls.start();
    return socket;
  }

  /** Gives a server's connection the bytes that arrived before TLS took over. Events may be emitted within. */
  receive(bytes: Buffer): void {
    if (!this.destroyed) this.#tls.receive(bytes);
  }

  // Result of the handshake; readable until the connection is closed.

  /** Server name as the client sent it, or empty. */
  get serverName(): string {
    return this.#tls.getServername() || '';
  }

  /** Protocol chosen by ALPN; empty without a choice. */
  get protocol(): string {
    return this.#tls.getALPNNegotiatedProtocol() || '';
  }

  /** `TLSv1.3` */
  get version(): string {
    return this.#tls.getProtocol() ?? '';
  }

  /** True when the session was resumed. */
  get resumed(): boolean {
    return this.#tls.isSessionReused();
  }

  get peerCertificate(): X509Certificate | undefined {
    return peerCertificateOf(this.#tls);
  }

  /** Reason why the peer's certificate does not lead to a trusted one; undefined when it does. */
  get distrust(): string | undefined {
    const error = this.#tls.verifyError();
    return error ? (error.code ?? error.message) : undefined;
  }

  /** Releases the connection to its user: the handshake is complete and accepted. */
  release(security: Security): void {
    this.security = security;
    if (this.#session !== undefined) this.#onSession?.(this.#session);
    this.#session = undefined;
  }

  /**
   * Writes. `drain` follows each write, so that its buffer is released: TLS reports later what the kernel has taken.
   * Text leaves at the end of the tick, bytes as soon as it is their turn.
   */
  write(data: string | Uint8Array, _encoding?: 'latin1'): boolean {
    if (!this.writable || data.length === 0) return true;
    this.writableLength += data.length;
    if (typeof data === 'string') this.#text += data;
    else {
      if (this.#text !== '') this.flush();
      this.#queue(data);
    }
    if (this.#text === '') return this.writableLength < drainedBytesMin;
    if (this.#text.length >= drainedBytesMin) this.flush();
    else if (!this.#flushScheduled) {
      this.#flushScheduled = true;
      flushAtEndOfTick(this);
    }
    return this.writableLength < drainedBytesMin;
  }

  flush(): void {
    this.#flushScheduled = false;
    const text = this.#text;
    this.#text = '';
    if (text !== '' && !this.destroyed) this.#queue(text);
  }

  /** Memory and number of the writes behind the pending one; bytes read while paused. */
  get held(): PendingWrites['held'] & { readonly read: number } {
    return { ...(this.#pending?.held ?? { bytes: 0, parts: 0 }), read: this.#kept?.bytes.length ?? 0 };
  }

  override destroy(error?: NodeJS.ErrnoException): this {
    // Writes as much as TLS takes at once.
    if (error === undefined && this.#flushScheduled) this.flush();
    return super.destroy(error);
  }

  override pause(): this {
    this.#stopped = true;
    return super.pause();
  }

  override resume(): this {
    this.#stopped = false;
    if (this.#kept === undefined && !this.#endKept) return super.resume();
    if (!this.#delivering) {
      this.#delivering = true;
      // Never before the caller has returned.
      process.nextTick(() => this.#deliver());
    }
    return this;
  }

  /** Handles decrypted bytes in the shared read buffer. */
  override onRead(count: number): void {
    if (count > 0) {
      if (!this.#stopped && this.#kept === undefined) this.receiver?.onBytes(sharedReadBuffer, count);
      else this.#keep(count);
    } else if (count === streamState.endOfFile) {
      this.truncated = this.#hasEnded();
      if (this.#stopped || this.#kept !== undefined) this.#endKept = true;
      else this.finishReading(!this.truncated);
    } else if (count < 0) this.fail(count, 'read');
  }

  override onWritten(status: number, length: number): void {
    this.#writing = false;
    this.writableLength -= length;
    if (this.destroyed) return;
    if (status < 0) {
      this.failWrite(status);
      return;
    }
    const next = this.#pending?.shift();
    if (next !== undefined) this.#write(next);
    else if (this.#text !== '') this.flush();
    else {
      this.emit('drain');
      if (this.ended && !this.#writing) this.#sendCloseNotify();
    }
  }

  /** Sends close_notify behind all written bytes. */
  protected override shutDown(): void {
    this.flush();
    if (!this.#writing) this.#sendCloseNotify();
  }

  protected override onClosed(): void {
    this.#kept = undefined;
    this.#pending = undefined;
    this.#tls.destroySSL();
  }

  /**
   * Returns whether the connection has ended, called within TLS's end event. That event stands for two: close_notify,
   * which came in bytes of a connection that is still being read, and the end of the connection without one. An ended
   * connection is read no more, and can be read anew; one that is not read at all cannot have ended.
   */
  #hasEnded(): boolean {
    const { tcp } = this;
    if (this.#tls instanceof NodeTlsHandle) return this.#tls.endedBelow;
    if (tcp === undefined || !this.reading || tcp.readStart() !== 0) return false;
    tcp.readStop();
    return true;
  }

  #sendCloseNotify(): void {
    if (this.#sentCloseNotify || this.destroyed) return;
    this.#sentCloseNotify = true;
    super.shutDown();
  }

  #onHandshakeDone(): void {
    // TLS 1.2 may renegotiate, and 1.3 calls it for tickets too.
    if (this.#secured || this.destroyed) return;
    this.#secured = true;
    this.emit('secure');
  }

  #chooseKey(choose: NonNullable<ServerSide['choose']>, serverName: string): void {
    const tls = this.#tls;
    try {
      const chosen = choose(serverName);
      tls.sni_context = undefined;
      if (chosen === undefined) return;
      tls.setKeyCert(nativeOf(chosen));
      tls.certCbDone();
    } catch (error) {
      // Any exception belongs to this handshake alone.
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #write(data: string | Uint8Array): void {
    const { stream } = this;
    const request = writeRequest();
    request.owner = this;
    request.data = data;
    request.oncomplete = onWriteDone;
    this.#writing = true;
    this.emit('blocked');
    const status =
      typeof data === 'string' ? stream.writeLatin1String(request, data) : stream.writeBuffer(request, data);
    if (status !== 0) this.failWrite(status);
  }

  /** Writes at once, or behind the pending write. */
  #queue(data: string | Uint8Array): void {
    if (!this.#writing) this.#write(data);
    else {
      this.#pending ??= new PendingWrites();
      this.#pending.push(data);
    }
  }

  #keep(count: number): void {
    this.#kept ??= new ReceiveBuffer();
    this.#kept.append(sharedReadBuffer, 0, count);
  }

  #deliver(): void {
    this.#delivering = false;
    const kept = this.#kept;
    while (kept !== undefined && kept.length > 0 && !this.#stopped && !this.destroyed) {
      const bytes = kept.content.subarray(0, sharedReadBuffer.length);
      const left = kept.content.subarray(bytes.length);
      kept.clear();
      kept.append(left, 0, left.length);
      this.receiver?.onBytes(bytes, bytes.length);
    }
    if (this.#stopped || this.destroyed) return;
    this.#kept = undefined;
    if (this.#endKept) {
      this.#endKept = false;
      this.finishReading(!this.truncated);
    } else super.resume();
  }
}
