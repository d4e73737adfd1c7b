// A connection to an endpoint on its way to being one under TLS. Whoever began it watches the time.
import type { Socket } from 'node:net';
import { detachHandle } from '../socket/accepting.ts';
import type { ByteSocket } from '../socket/byte-socket.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { MaterialProblem } from '../tls/pem.ts';
import type { SecureSocket } from '../tls/secure-socket.ts';
import type { UpstreamSecurity } from '../tls/upstream-security.ts';

export class Securing {
  readonly #socket: Socket;
  readonly #security: UpstreamSecurity;
  readonly #endpoint: string;
  readonly #onOutcome: (outcome: ByteSocket | string) => void;
  #wire: SecureSocket | undefined;
  #settled = false;

  /** `onOutcome` is called once, perhaps before `begin` returns, with the wire or with why there is none, for people. */
  constructor(
    socket: Socket,
    security: UpstreamSecurity,
    endpoint: string,
    onOutcome: (outcome: ByteSocket | string) => void,
  ) {
    this.#socket = socket;
    this.#security = security;
    this.#endpoint = endpoint;
    this.#onOutcome = onOutcome;
  }

  begin(): void {
    const handle = detachHandle(this.#socket);
    const wire = this.#secured(handle);
    if (wire === undefined) return;
    this.#wire = wire;
    wire.on('error', this.#onError);
    wire.once('end', this.#onEnd);
    wire.once('close', this.#onEnd);
    wire.once('secure', () => this.#onSecure(wire));
  }

  /** Nobody waits any more. */
  abandon(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#wire?.on('error', () => {});
    this.#wire?.destroy();
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

  #onSecure(wire: SecureSocket): void {
    if (this.#settled) return;
    const security = this.#security.judge(wire);
    if (typeof security === 'string') {
      this.#fail(security);
      return;
    }
    this.#settled = true;
    wire.off('error', this.#onError);
    wire.off('end', this.#onEnd);
    wire.off('close', this.#onEnd);
    wire.release(security);
    this.#onOutcome(wire);
  }

  readonly #onError = ({ code, message }: NodeJS.ErrnoException): void => this.#fail(code ?? message);

  readonly #onEnd = (): void => this.#fail('the upstream closed the connection');

  #fail(reason: string): void {
    if (this.#settled) return;
    this.#security.forget(this.#endpoint);
    this.abandon();
    this.#onOutcome(reason);
  }
}
