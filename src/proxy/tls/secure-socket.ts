// A connection under TLS with the same receiver as a plain wire has: what was decrypted arrives in the bytes that all
// sockets of the thread read to. Node reads TLS this way only on sockets that connect by themselves, so the handle it
// would make is replaced by the one that is there (see socket/accepting.ts).
import { type SecureContext, TLSSocket, type TLSSocketOptions } from 'node:tls';
import { arrived, type SocketReceiver } from '../socket/byte-socket.ts';
import type { Security } from '../socket/security.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';

/** What Node keeps of a connection below what it documents. */
interface TlsHandle {
  /** Serves the client in place of `oncertcb` of Node's own. */
  oncertcb(hello: { readonly servername?: string }): void;
  enableCertCb(): void;
  certCbDone(): void;
  /** Not empty: the server name is acknowledged, and belongs to the session. */
  sni_context: unknown;
  onnewsession(id: Buffer, session: Buffer): void;
  enableSessionCallbacks(): void;
  setServername(name: string): void;
  verifyError(): NodeJS.ErrnoException | null | undefined;
  start(): void;
  readonly _parent: TcpHandle;
  /** Called by a socket that is reset; TLS brings none. */
  reset?(done: () => void): number;
}

interface SecureSocketOptions {
  readonly context: SecureContext;
  /** Protocols for ALPN, the first is preferred. */
  readonly protocols: readonly string[];
}

export interface ServerSide extends SecureSocketOptions {
  readonly askForCertificate: boolean;
  readonly insistOnCertificate: boolean;
  /** Whose key the handshake goes on with; undefined refuses it. `serverName` is as the client sent it, or empty. */
  choose(serverName: string): SecureContext | undefined;
}

export interface ClientSide extends SecureSocketOptions {
  /** For SNI; undefined sends none. */
  readonly serverName: string | undefined;
  /** Of an earlier connection to the same place. */
  readonly session: Buffer | undefined;
  /** Sessions that the server offers, for later connections; none before the wire is released. */
  onSession(session: Buffer): void;
}

export class SecureSocket extends TLSSocket {
  receiver: SocketReceiver | undefined;
  /** Set when the handshake is over and found good. */
  security: Security | undefined;
  /** Whoever reads wants nothing at the moment. TLS delivers what it had decrypted by then all the same. */
  #stopped = false;
  /** What came while stopped, in order. */
  #kept: Buffer[] = [];
  #endKept = false;
  /** Offered before anybody had judged the handshake. */
  #session: Buffer | undefined;
  #onSession: ((session: Buffer) => void) | undefined;
  #delivering = false;

  /** Takes over the connection, and with it the duty to close it. 'secure' or 'close' follows. */
  private constructor(handle: TcpHandle, options: TLSSocketOptions) {
    const own: { wire?: SecureSocket } = {};
    const onread = {
      buffer: arrived,
      callback: (length: number): boolean => {
        own.wire?.onArrived(length);
        return true;
      },
    };
    adopted = handle;
    // TLS takes nothing at once: `drain` follows each write, so that what was lent for it comes back.
    super(undefined as never, { ...options, onread, highWaterMark: 1 } as TLSSocketOptions);
    own.wire = this;
    Reflect.set(this, 'connecting', false);
  }

  static accept(handle: TcpHandle, options: ServerSide): SecureSocket {
    const wire = new SecureSocket(handle, {
      isServer: true,
      secureContext: options.context,
      requestCert: options.askForCertificate,
      rejectUnauthorized: options.insistOnCertificate,
      ALPNProtocols: [...options.protocols],
      allowHalfOpen: true,
    } as TLSSocketOptions);
    const tls = wire.#tls;
    tls.sni_context = nativeOf(options.context);
    tls.oncertcb = ({ servername = '' }) => {
      try {
        const chosen = options.choose(servername);
        tls.sni_context = undefined;
        if (chosen === undefined) return;
        wire.setKeyCert(chosen);
        tls.certCbDone();
      } catch (error) {
        // Whatever it is, it is this handshake's alone.
        wire.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    };
    tls.enableCertCb();
    return wire;
  }

  static connect(handle: TcpHandle, options: ClientSide): SecureSocket {
    const wire = new SecureSocket(handle, {
      isServer: false,
      secureContext: options.context,
      session: options.session,
      ALPNProtocols: [...options.protocols],
    } as TLSSocketOptions);
    const tls = wire.#tls;
    tls.onnewsession = (_id, session) => {
      if (wire.security === undefined) wire.#session = session;
      else options.onSession(session);
    };
    wire.#onSession = options.onSession;
    tls.enableSessionCallbacks();
    if (options.serverName !== undefined) tls.setServername(options.serverName);
    tls.start();
    return wire;
  }

  /** Not to be asked for once it is closed. */
  get #tls(): TlsHandle {
    const tls = handleOf(this);
    if (tls === null) throw new Error('the connection is closed');
    return tls;
  }

  /** Why the other side's certificate does not lead to one that is trusted; undefined when it does. */
  get distrust(): string | undefined {
    const error = this.#tls.verifyError();
    return error ? (error.code ?? error.message) : undefined;
  }

  /** The connection below. Undefined once it is closed. */
  get tcp(): TcpHandle | undefined {
    return handleOf(this)?._parent;
  }

  /** The handshake is over and found good. From here on errors are the owner's, as on any socket. */
  release(security: Security): void {
    this.security = security;
    releaseOfNode.call(this);
    if (this.#session !== undefined) this.#onSession?.(this.#session);
    this.#session = undefined;
  }

  /** Called by Node within the constructor. */
  _wrapHandle(_wrap: unknown, handle: TcpHandle | undefined): unknown {
    const tcp = adopted ?? handle;
    adopted = undefined;
    return wrapOfNode.call(this, null, tcp, false);
  }

  /** `arrived[0..length)` was decrypted. */
  onArrived(length: number): void {
    if (this.#stopped || this.#kept.length > 0) this.#kept.push(Buffer.from(arrived.subarray(0, length)));
    else this.receiver?.onBytes(arrived, length);
  }

  override pause(): this {
    this.#stopped = true;
    return super.pause();
  }

  override resume(): this {
    this.#stopped = false;
    if (this.#kept.length === 0) return super.resume();
    if (!this.#delivering) {
      this.#delivering = true;
      // As a socket would: never before the caller has returned.
      process.nextTick(() => this.#deliver());
    }
    return this;
  }

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (chunk !== null || this.#kept.length === 0) return super.push(chunk, encoding);
    this.#endKept = true;
    return false;
  }

  /** Without a goodbye: the other side must not take what it has for the whole. */
  override resetAndDestroy(): this {
    const tls = handleOf(this);
    if (tls !== null) {
      tls.reset = (done) => tls._parent.reset(done);
      Reflect.set(this, 'resetAndClosing', true);
    }
    return this.destroy();
  }

  #deliver(): void {
    this.#delivering = false;
    while (!this.#stopped && !this.destroyed) {
      const bytes = this.#kept[0];
      if (bytes === undefined) break;
      this.#kept.shift();
      this.receiver?.onBytes(bytes, bytes.length);
    }
    if (this.#kept.length > 0 || this.destroyed) return;
    if (this.#endKept) {
      super.push(null);
      this.read(0);
    } else if (!this.#stopped) super.resume();
  }
}

/** The connection that the wire being made takes over: Node asks for it before `this` exists. */
let adopted: TcpHandle | undefined;

const handleOf = (wire: object): TlsHandle | null => Reflect.get(wire, '_handle');
const wrapOfNode: (wrap: null, handle: unknown, writing: boolean) => unknown = Reflect.get(
  TLSSocket.prototype,
  '_wrapHandle',
);
const releaseOfNode: () => boolean = Reflect.get(TLSSocket.prototype, '_releaseControl');

const nativeOf = (context: SecureContext): unknown => Reflect.get(context, 'context');
