// Carries a write from the node that received it to the leader (raft.md A16). One attempt, never repeated here: the
// proposer decides whether and where to try again, and for that it must know what this attempt can have done.
import { Agent, type Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Relay, RelayOutcome, RelayRequest } from './relay.ts';
import { signedAuthorization } from './relay-credential.ts';
import { decodeApplied, encodeEnvelope, isRecord, parse, relayBodyMax } from './relay-wire.ts';

export interface RelayClientOptions {
  /** Undefined: this node belongs to no cluster yet, and relays nothing. */
  readonly clusterId: () => string | undefined;
  /** From the cluster token or what stands in for it; undefined: requests carry no proof. */
  readonly key: Uint8Array | undefined;
  /** PEM texts. Present: https, this certificate is shown, and the chain of the other one is checked. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca?: string | undefined } | undefined;
  readonly clock: Clock;
  /** 16 characters of base64url or more, never the same twice. */
  readonly newNonce: () => string;
}

const path = '/sync/raft';
const connectTimeoutMs = 500;
/** Writes on their way to one leader; more wait for a connection. */
const connectionsMax = 64;

export class RelayClient implements Relay {
  readonly #options: RelayClientOptions;
  readonly #agent: Agent;

  constructor(options: RelayClientOptions) {
    this.#options = options;
    this.#agent = new Agent({
      connections: connectionsMax,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: 10_000,
      connect: { timeout: connectTimeoutMs, ...(options.tls && trustOf(options.tls)) },
    });
  }

  send(request: RelayRequest): Promise<RelayOutcome> {
    const { leader, requestId, command, remainingMs } = request;
    const clusterId = this.#options.clusterId();
    if (clusterId === undefined) return notSent('this node belongs to no cluster yet');
    if (leader.address === '') return notSent(`the leader ${leader.nodeId} advertises no API address`);
    const whole = Math.max(1, Math.round(remainingMs));
    const body = encodeEnvelope({ v: 1, clusterId, requestId, command, remainingMs: whole });
    if (body.length > relayBodyMax) return notSent('the write is too large to be relayed');
    return this.#attempt(leader.address, body, whole);
  }

  /** Breaks off what is under way. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #attempt(address: string, body: Buffer, withinMs: number): Promise<RelayOutcome> {
    const { tls, clock } = this.#options;
    const origin = `${tls === undefined ? 'http' : 'https'}://${address}`;
    return new Promise((resolve) => {
      const cancelDeadline = clock.after(withinMs, () => attempt.expire());
      const attempt = new Attempt((outcome) => {
        cancelDeadline();
        resolve(outcome);
      });
      try {
        this.#agent.dispatch({ origin, path, method: 'POST', headers: this.#headers(body), body }, attempt);
      } catch (error) {
        // An address that is none is refused before anything is sent.
        attempt.onResponseError(undefined, error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  #headers(body: Uint8Array): Record<string, string> {
    const { key, clock, newNonce } = this.#options;
    const type = { 'content-type': 'application/json' };
    if (key === undefined) return type;
    const stamp = { unixMs: clock.nowMs(), nonce: newNonce() };
    return { ...type, authorization: signedAuthorization(key, { method: 'POST', path, body }, stamp) };
  }
}

/** Members are addressed as they come, by IP more often than not: what proves one is the chain, not the name. */
function trustOf({ cert, key, ca }: NonNullable<RelayClientOptions['tls']>) {
  return { cert, key, ...(ca !== undefined && { ca }), checkServerIdentity: () => undefined };
}

const notSent = (reason: string): Promise<RelayOutcome> => Promise.resolve({ outcome: 'not-applied', reason });

/** `#started` divides what certainly had no effect from what may have had one. */
class Attempt implements Dispatcher.DispatchHandler {
  #resolve: ((outcome: RelayOutcome) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #started = false;
  #status = 0;
  #length = 0;
  readonly #chunks: Buffer[] = [];

  constructor(resolve: (outcome: RelayOutcome) => void) {
    this.#resolve = resolve;
  }

  expire(): void {
    this.#fail('the leader did not answer in time');
    this.#controller?.abort(new Error('deadline'));
  }

  /** Called when a connection is there, right before the first byte. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#resolve === undefined) controller.abort(new Error('deadline'));
    else this.#started = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > relayBodyMax) controller.abort(new Error('the answer of the leader is too long'));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#end(outcomeOf(this.#status, parse(Buffer.concat(this.#chunks))));
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#fail(`the leader cannot be reached: ${error.message}`);
  }

  #fail(reason: string): void {
    this.#end({ outcome: this.#started ? 'unknown' : 'not-applied', reason });
  }

  #end(outcome: RelayOutcome): void {
    this.#resolve?.(outcome);
    this.#resolve = undefined;
  }
}

/** What an answer says of the write. Only what a leader says in so many words is certain; a 4xx came before its log. */
function outcomeOf(status: number, body: unknown): RelayOutcome {
  const result = status === 200 ? decodeApplied(body) : undefined;
  if (result !== undefined) return { outcome: 'applied', index: result.index, result };
  const error = isRecord(body) && typeof body.error === 'string' ? body.error : 'no reason given';
  const reason = `the leader answered ${status}: ${error}`;
  const isRefusal = (status >= 400 && status < 500) || (isRecord(body) && body.outcome === 'not-applied');
  return { outcome: isRefusal ? 'not-applied' : 'unknown', reason };
}
