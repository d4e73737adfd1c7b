// Handshake of a client's connection, from accept to its end, within the client's time for its first request head.

import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import type { SocketReceiver } from '../socket/byte-socket.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { TcpSocket } from '../socket/tcp-socket.ts';
import type { HeadHolder, UnfinishedHeads } from '../socket/unfinished-heads.ts';
import { Timed, type Wheel } from '../wheel.ts';
import { HelloReader, type HelloReading } from './client-hello.ts';
import type { SecureSocket } from './secure-socket.ts';
import { type TlsTerminator, unrecognizedName } from './terminator.ts';

export interface HandshakeOwner {
  /** Returns whether a handshake for the name, as the client sent it, may go on; absent: it may. */
  admitsName?(handshake: Handshake, serverName: string): boolean;
  /**
   * Called with the socket, which belongs to the owner from here on, with its `security` set. Its client has used
   * `spentMs` of its time.
   */
  onSecured(handshake: Handshake, socket: SecureSocket, spentMs: number): void;
  /** Called when the connection is gone. No reason: it ended before its first byte. */
  onNotSecured(handshake: Handshake, reason: string | undefined): void;
}

export class Handshake extends Timed implements SocketReceiver, HeadHolder {
  headBytes = 0;
  readonly #owner: HandshakeOwner;
  readonly #wheel: Wheel;
  readonly #heads: UnfinishedHeads;
  readonly #handle: TcpHandle;
  readonly #terminator: TlsTerminator;
  /** Plain connection while the hello is not whole. */
  readonly #plain: TcpSocket;
  readonly #hello = new ReceiveBuffer();
  readonly #reader = new HelloReader();
  #socket: SecureSocket | undefined;
  readonly #startedMs: number;
  #refusal: string | undefined;
  #settled = false;

  /** `withinMs` 0 = no limit. `begun`: what the client has sent and used of its time before. */
  constructor(
    handle: TcpHandle,
    terminator: TlsTerminator,
    owner: HandshakeOwner,
    wheel: Wheel,
    heads: UnfinishedHeads,
    withinMs: number,
    begun?: { readonly bytes: Buffer; readonly spentMs: number },
  ) {
    super();
    this.#owner = owner;
    this.#wheel = wheel;
    this.#heads = heads;
    const spentMs = begun?.spentMs ?? 0;
    if (withinMs > 0) wheel.arm(this, Math.max(1, withinMs - spentMs));
    this.#startedMs = wheel.nowMs - spentMs;
    this.#handle = handle;
    this.#terminator = terminator;
    const plain = new TcpSocket(handle, { halfOpen: true, attached: begun !== undefined });
    this.#plain = plain;
    plain.receiver = this;
    plain.on('error', this.#onError);
    plain.once('end', this.#onEnd);
    plain.once('close', this.#onClose);
    plain.resume();
    // Never before the owner has the handshake.
    if (begun !== undefined) process.nextTick(() => this.onBytes(begun.bytes, begun.bytes.length));
  }

  get remoteAddress(): string | undefined {
    return (this.#socket ?? this.#plain).remoteAddress;
  }

  onBytes(bytes: Buffer, length: number): void {
    if (this.#settled || this.#socket !== undefined) return;
    const isFirst = this.#hello.length === 0;
    if (!isFirst) this.#hello.append(bytes, 0, length);
    const came = isFirst ? bytes.subarray(0, length) : this.#hello.content;
    const hello = this.#reader.read(came);
    if (hello === 'more' && isFirst) this.#hello.append(bytes, 0, length);
    // OpenSSL keeps what it cannot read either, until the handshake ends.
    if (typeof hello === 'string') this.#heads.hold(this, came.length);
    if (hello === 'more' || this.#settled) return;
    const { serverName } = hello === 'other' ? { serverName: '' } : hello;
    if (this.#owner.admitsName?.(this, serverName) === false) this.#refuseName();
    else this.#secure(hello, came);
  }

  /** Hands the connection over to TLS, which reads on. */
  #secure(hello: HelloReading, bytes: Buffer): void {
    const plain = this.#plain;
    plain.off('error', this.#onError);
    plain.off('end', this.#onEnd);
    plain.off('close', this.#onClose);
    const socket = this.#terminator.accept(this.#handle, () => this.#refuse());
    this.#socket = socket;
    socket.on('error', this.#onError);
    socket.once('end', this.#onEnd);
    socket.once('close', this.#onClose);
    socket.once('secure', () => this.#onSecure(socket));
    this.#terminator.begin(socket, hello, bytes);
  }

  /** Aborts the handshake, whose owner does not wait any more. */
  destroy(): void {
    this.#end(undefined);
  }

  refuseHead(): void {
    this.#end('too_many_unfinished');
  }

  override onDeadline(): void {
    this.#end('timeout');
  }

  #onSecure(socket: SecureSocket): void {
    if (this.#settled) return;
    const security = this.#terminator.verify(socket);
    if (typeof security === 'string') {
      this.#end(security);
      return;
    }
    this.#settle();
    socket.off('error', this.#onError);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onClose);
    socket.release(security);
    this.#owner.onSecured(this, socket, this.#wheel.nowMs - this.#startedMs);
  }

  #refuseName(): void {
    this.#settle();
    this.#plain.write(unrecognizedName);
    this.#plain.destroySoon();
    this.#owner.onNotSecured(this, 'unrecognized_name');
  }

  /** Runs within OpenSSL: the connection ends after the return. */
  #refuse(): void {
    this.#refusal = 'unrecognized_name';
    setImmediate(() => this.#end(this.#refusal));
  }

  readonly #onError = (error: NodeJS.ErrnoException): void => this.#end(reasonOf(error));

  readonly #onEnd = (): void => this.#onClose();

  readonly #onClose = (): void => {
    const { tcp } = this.#socket ?? this.#plain;
    this.#end(tcp !== undefined && tcp.bytesRead === 0 ? undefined : 'client_closed');
  };

  #end(reason: string | undefined): void {
    if (this.#settled) return;
    this.#settle();
    (this.#socket ?? this.#plain).destroy();
    this.#owner.onNotSecured(this, reason);
  }

  #settle(): void {
    this.#settled = true;
    this.#heads.hold(this, 0);
    this.#wheel.remove(this);
  }
}

/** Returns the reason as a label: `ERR_SSL_NO_SHARED_CIPHER` → `no_shared_cipher`. */
function reasonOf({ code = 'other' }: NodeJS.ErrnoException): string {
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'client_closed';
  return code.replace(/^ERR_(SSL_|TLS_)?/, '').toLowerCase();
}
