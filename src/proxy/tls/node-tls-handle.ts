// TLS handle over Node's documented TLS sockets, for connections of `node-handle.ts`. It has the interface of the internal
// one. Sessions of a listener with several certificates are not resumed: its clients' names choose after their tickets are opened.
import type { X509Certificate } from 'node:crypto';
import { Duplex } from 'node:stream';
import { connect, type SecureContext, TLSSocket, type TLSSocketOptions } from 'node:tls';
import { sharedReadBuffer } from '../socket/byte-socket.ts';
import { NodeStream } from '../socket/node-handle.ts';
import { streamState, type TcpHandle, writeRequest } from '../socket/stream-handle.ts';
import { HelloReader } from './client-hello.ts';
import { isOpeningTickets, openingTickets } from './ticket-keys.ts';
import type { NativeContext, TlsHandle } from './tls-stream.ts';

/** Bytes of a connection below TLS, as a stream of Node's. */
class HandleStream extends Duplex {
  /** True once the connection has ended, which TLS learns after everything received before. */
  ended = false;
  /** True while the next bytes for TLS are a hello whose sessions may be resumed. */
  #opensTickets = false;
  readonly #tcp: TcpHandle;

  constructor(tcp: TcpHandle) {
    super({ allowHalfOpen: true });
    this.#tcp = tcp;
    tcp.onread = () => this.#onRead(streamState.lastRead);
  }

  /** Passes on a hello that was read before. TLS takes it a tick later, in one call: tickets are opened then as they would be now. */
  begin(hello: Buffer): void {
    this.#opensTickets = isOpeningTickets();
    this.push(hello);
  }

  override emit(event: string | symbol, ...args: readonly unknown[]): boolean {
    if (!this.#opensTickets || event !== 'data') return super.emit(event, ...args);
    this.#opensTickets = false;
    openingTickets(() => super.emit(event, ...args));
    return true;
  }

  override _read(): void {
    this.#tcp.readStart();
  }

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#request(done, (request) => this.#tcp.writeBuffer(request, bytes));
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#request(done, (request) => {
      streamState.lastWriteIsAsync = true;
      const status = this.#tcp.shutdown(request);
      if (status !== streamState.notConnected) return status;
      // The peer has gone: there is nothing left to end.
      streamState.lastWriteIsAsync = false;
      return 0;
    });
  }

  #request(done: (error?: Error | null) => void, run: (request: ReturnType<typeof writeRequest>) => number): void {
    const request = writeRequest();
    const settle = (status: number): void => done(status < 0 ? lost(status) : null);
    request.oncomplete = settle;
    const status = run(request);
    if (status !== 0 || !streamState.lastWriteIsAsync) settle(status);
  }

  #onRead(count: number): void {
    if (count > 0) {
      if (!this.push(Buffer.from(sharedReadBuffer.subarray(0, count)))) this.#tcp.readStop();
    } else if (count === streamState.endOfFile) {
      // A close_notify that came with the end is read before it.
      setImmediate(() => {
        this.ended = true;
        this.push(null);
      });
    } else if (count < 0) this.destroy(lost(count));
  }
}

const lost = (errno: number): Error =>
  Object.assign(new Error('the connection is lost'), { code: 'ECONNRESET', errno });

export class NodeTlsHandle extends NodeStream implements TlsHandle {
  onhandshakedone = (): void => {};
  onerror: TlsHandle['onerror'] = () => {};
  oncertcb: TlsHandle['oncertcb'] = () => {};
  onnewsession: TlsHandle['onnewsession'] = () => {};
  sni_context: NativeContext | undefined;
  readonly #below: HandleStream;
  readonly #context: SecureContext;
  #choice: ((error: null, context?: NativeContext) => void) | undefined;
  #options: TLSSocketOptions & { servername?: string } = {};
  #tls: TLSSocket | undefined;
  /** Server name of the client's hello. Node's socket forgets it in a session of TLS 1.2. */
  #requested: string | false = false;

  constructor(tcp: TcpHandle, context: SecureContext) {
    super();
    this.#below = new HandleStream(tcp);
    this.#context = context;
  }

  /** True when the connection below has ended, with or without a close_notify before. */
  get endedBelow(): boolean {
    return this.#below.ended;
  }

  get peerCertificate(): X509Certificate | undefined {
    return this.#tls?.getPeerX509Certificate();
  }

  /** Accepts a connection whose first bytes have been read before. */
  receive(bytes: Buffer): void {
    const hello = new HelloReader().read(bytes);
    if (typeof hello !== 'string') this.#requested = hello.serverName;
    this.#below.begin(Buffer.from(bytes));
    this.#open(new TLSSocket(this.#below, { ...this.#options, isServer: true, secureContext: this.#context }));
    // Only with a context does OpenSSL keep the name in the session; a ticket without one is not opened.
    if (this.#options.SNICallback === undefined) Object.assign(this.#ssl ?? {}, { sni_context: this.sni_context });
  }

  /** Connects. The certificate is judged by the caller. */
  start(): void {
    const options = { rejectUnauthorized: false, checkServerIdentity: () => undefined, secureContext: this.#context };
    this.#open(connect({ ...this.#options, ...options, socket: this.#below }));
  }

  enableCertCb(): void {
    this.#options.SNICallback = (servername, choice) => {
      this.#choice = choice as (error: null, context?: NativeContext) => void;
      this.oncertcb({ servername });
    };
  }

  setKeyCert(context: NativeContext): void {
    this.sni_context = context;
  }

  certCbDone(): void {
    this.#choice?.(null, this.sni_context);
  }

  enableSessionCallbacks(): void {}

  setSession(session: Buffer): void {
    this.#options.session = session;
  }

  setServername(name: string): void {
    this.#options.servername = name;
  }

  setALPNProtocols(list: Buffer): void {
    this.#options.ALPNProtocols = list;
  }

  setVerifyMode(requestCert: boolean, rejectUnauthorized: boolean): void {
    Object.assign(this.#options, { requestCert, rejectUnauthorized });
  }

  getServername(): string | false {
    return this.#requested;
  }

  getALPNNegotiatedProtocol(): string | false {
    return this.#tls?.alpnProtocol ?? false;
  }

  getProtocol(): string | null {
    return this.#tls?.getProtocol() ?? null;
  }

  isSessionReused(): boolean {
    return this.#tls?.isSessionReused() ?? false;
  }

  /** A certificate that cannot be judged is not trusted. */
  verifyError(): NodeJS.ErrnoException | null | undefined {
    const ssl = this.#ssl;
    const verify: unknown = ssl && Reflect.get(ssl, 'verifyError');
    if (typeof verify !== 'function') return Object.assign(new Error('it cannot be verified'), { code: 'UNVERIFIED' });
    return verify.call(ssl);
  }

  destroySSL(): void {
    this.#tls?.destroy();
    this.#below.destroy();
  }

  protected override onError(error: NodeJS.ErrnoException): void {
    this.onerror(error);
  }

  /** Handle of Node's socket, where this version has one. */
  get #ssl(): object | undefined {
    const ssl: unknown = this.#tls && Reflect.get(this.#tls, 'ssl');
    return typeof ssl === 'object' && ssl !== null ? ssl : undefined;
  }

  #open(tls: TLSSocket): void {
    this.#tls = tls;
    tls.on('secure', () => this.onhandshakedone());
    tls.on('session', (session: Buffer) => this.onnewsession(session, session));
    this.attach(tls);
  }
}
