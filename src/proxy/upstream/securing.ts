// TLS handshake of a connection to an endpoint. The caller that began it enforces the time limit.
import type { ByteSocket } from '../socket/byte-socket.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { MaterialProblem } from '../tls/pem.ts';
import type { SecureSocket } from '../tls/secure-socket.ts';
import type { UpstreamSecurity } from '../tls/upstream-security.ts';

export class Securing {
  readonly #handle: TcpHandle;
  readonly #security: UpstreamSecurity;
  readonly #endpoint: string;
  readonly #onOutcome: (outcome: ByteSocket | string) => void;
  #secureSocket: SecureSocket | undefined;
  #settled = false;

  /** `onOutcome` is called once, perhaps before `begin` returns, with the socket or with why there is none, for people. */
  constructor(
    handle: TcpHandle,
    security: UpstreamSecurity,
    endpoint: string,
    onOutcome: (outcome: ByteSocket | string) => void,
  ) {
    this.#handle = handle;
    this.#security = security;
    this.#endpoint = endpoint;
    this.#onOutcome = onOutcome;
  }

  begin(): void {
    const socket = this.#secured(this.#handle);
    if (socket === undefined) return;
    this.#secureSocket = socket;
    socket.on('error', this.#onError);
    socket.once('end', this.#onEnd);
    socket.once('close', this.#onEnd);
    socket.once('secure', () => this.#onSecure(socket));
  }

  /** Ends the handshake; no caller waits for it any more. */
  abort(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#secureSocket?.destroy();
  }

  #secured(handle: TcpHandle): SecureSocket | undefined {
    try {
      return this.#security.secure(handle, this.#endpoint);
    } catch (error) {
      if (!(error instanceof MaterialProblem)) throw error;
      handle.close();
      this.#fail(error.message);
      return undefined;
    }
  }

  #onSecure(socket: SecureSocket): void {
    if (this.#settled) return;
    const security = this.#security.verify(socket);
    if (typeof security === 'string') {
      this.#fail(security);
      return;
    }
    this.#settled = true;
    socket.off('error', this.#onError);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onEnd);
    socket.release(security);
    this.#onOutcome(socket);
  }

  readonly #onError = ({ code, message }: NodeJS.ErrnoException): void => this.#fail(code ?? message);

  readonly #onEnd = (): void => this.#fail('the upstream closed the connection');

  #fail(reason: string): void {
    if (this.#settled) return;
    this.#security.forget(this.#endpoint);
    this.abort();
    this.#onOutcome(reason);
  }
}
