// Connections from this node to the API of the leader, kept open between calls. One attempt per call, never repeated
// here; a failed call tells whether the leader can have seen it (raft.md A16).
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import type { Clock } from '../../util/clock.ts';
import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import { peerBodyMax } from './relay-wire.ts';

export interface LeaderConnectionsOptions {
  /** PEM texts. Present: https, this certificate is shown, and the chain of the other one is checked. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca?: string | undefined } | undefined;
  readonly clock: Clock;
}

export interface LeaderCall {
  /** API address of the leader, `host:port`. */
  readonly address: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Request target. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly withinMs: number;
}

export type LeaderReply =
  /** `proof`: value of `Authentication-Info`. */
  | { readonly is: 'answered'; readonly status: number; readonly proof?: string | undefined; readonly body: Buffer }
  /** `sent` is false only when it is certain that no byte of the request left this node, and none will. */
  | { readonly is: 'lost'; readonly sent: boolean; readonly reason: string };

const connectTimeoutMs = 500;
/** Calls on their way to one leader; more wait for a connection. */
const connectionsMax = 64;

export class LeaderConnections {
  readonly #scheme: 'http' | 'https';
  readonly #clock: Clock;
  readonly #agent: Agent;

  constructor({ tls, clock }: LeaderConnectionsOptions) {
    this.#scheme = tls === undefined ? 'http' : 'https';
    this.#clock = clock;
    this.#agent = new Agent({
      connections: connectionsMax,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: 10_000,
      connect: { timeout: connectTimeoutMs, ...(tls && trustOf(tls)) },
    });
  }

  /** Never rejects. */
  call({ address, method, path, headers, body, withinMs }: LeaderCall): Promise<LeaderReply> {
    return new Promise((resolve) => {
      const cancelDeadline = this.#clock.after(withinMs, () => attempt.expire());
      const attempt = new Attempt((reply) => {
        cancelDeadline();
        resolve(reply);
      });
      try {
        const origin = `${this.#scheme}://${address}`;
        this.#agent.dispatch({ origin, path, method, headers: { ...headers }, body }, attempt);
      } catch (error) {
        // An address that is none is refused before anything is sent.
        attempt.onResponseError(undefined, error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** Breaks off what is under way. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** Members are addressed as they come, by IP more often than not: what proves one is the chain, not the name. */
function trustOf({ cert, key, ca }: NonNullable<LeaderConnectionsOptions['tls']>) {
  return { cert, key, ...(ca !== undefined && { ca }), checkServerIdentity: () => undefined };
}

class Attempt implements Dispatcher.DispatchHandler {
  #resolve: ((reply: LeaderReply) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #sent = false;
  #status = 0;
  #proof: string | undefined;
  readonly #body = new ReceiveBuffer();

  constructor(resolve: (reply: LeaderReply) => void) {
    this.#resolve = resolve;
  }

  expire(): void {
    this.#end({ is: 'lost', sent: this.#sent, reason: 'the leader did not answer in time' });
    this.#controller?.abort(new Error('deadline'));
  }

  /** Called when a connection is there, right before the first byte: from here on the leader may have seen it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#resolve === undefined) controller.abort(new Error('deadline'));
    else this.#sent = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#proof = headers['authentication-info']?.toString();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#body.length + chunk.length > peerBodyMax) controller.abort(new Error('its answer is too long'));
    else this.#body.append(chunk, 0, chunk.length);
  }

  onResponseEnd(): void {
    this.#end({ is: 'answered', status: this.#status, proof: this.#proof, body: this.#body.content });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#end({ is: 'lost', sent: this.#sent, reason: `the leader cannot be reached: ${error.message}` });
  }

  #end(reply: LeaderReply): void {
    this.#resolve?.(reply);
    this.#resolve = undefined;
  }
}
