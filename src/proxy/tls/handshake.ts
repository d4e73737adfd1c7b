// A client's connection from accept to the end of its handshake, within the time it has for its first request head.

import type { TcpHandle } from '../socket/stream-handle.ts';
import { Timed, type Wheel } from '../wheel.ts';
import type { SecureSocket } from './secure-socket.ts';
import type { TlsTerminator } from './terminator.ts';

export interface HandshakeOwner {
  /** The socket is the owner's from here on, its `security` set. Its client has spent `spentMs` of its time. */
  onSecured(handshake: Handshake, socket: SecureSocket, spentMs: number): void;
  /** The connection is gone. No reason: it ended before a word was said. */
  onNotSecured(handshake: Handshake, reason: string | undefined): void;
}

export class Handshake extends Timed {
  readonly #owner: HandshakeOwner;
  readonly #wheel: Wheel;
  readonly #socket: SecureSocket;
  readonly #startedMs: number;
  #refusal: string | undefined;
  #settled = false;

  /** `withinMs` 0 = no limit. */
  constructor(handle: TcpHandle, terminator: TlsTerminator, owner: HandshakeOwner, wheel: Wheel, withinMs: number) {
    super();
    this.#owner = owner;
    this.#wheel = wheel;
    if (withinMs > 0) wheel.arm(this, withinMs);
    this.#startedMs = wheel.nowMs;
    const socket = terminator.accept(handle, () => this.#refuse());
    this.#socket = socket;
    socket.on('error', this.#onError);
    socket.once('end', this.#onEnd);
    socket.once('close', this.#onClose);
    socket.once('secure', () => this.#onSecure(terminator));
  }

  /** Nobody waits for it any more. */
  destroy(): void {
    this.#end(undefined);
  }

  override onDeadline(): void {
    this.#end('timeout');
  }

  #onSecure(terminator: TlsTerminator): void {
    if (this.#settled) return;
    const socket = this.#socket;
    const security = terminator.judge(socket);
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

  /** Within OpenSSL: the connection ends when it has returned. */
  #refuse(): void {
    this.#refusal = 'unrecognized_name';
    setImmediate(() => this.#end(this.#refusal));
  }

  readonly #onError = (error: NodeJS.ErrnoException): void => this.#end(reasonOf(error));

  readonly #onEnd = (): void => this.#onClose();

  readonly #onClose = (): void => {
    const { tcp } = this.#socket;
    this.#end(tcp !== undefined && tcp.bytesRead === 0 ? undefined : 'client_closed');
  };

  #end(reason: string | undefined): void {
    if (this.#settled) return;
    this.#settle();
    this.#socket.destroy();
    this.#owner.onNotSecured(this, reason);
  }

  #settle(): void {
    this.#settled = true;
    this.#wheel.remove(this);
  }
}

/** `ERR_SSL_NO_SHARED_CIPHER` → `no_shared_cipher`. */
function reasonOf({ code = 'other' }: NodeJS.ErrnoException): string {
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'client_closed';
  return code.replace(/^ERR_(SSL_|TLS_)?/, '').toLowerCase();
}
