// An external service over HTTP: one pool of connections per destination and worker, answers bounded.
import type { Socket } from 'node:net';
import type { Pool } from 'undici';
import type { Destination } from '../../model/destination.ts';
import type { Clock } from '../../util/clock.ts';
import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import { combinedValue, FieldList, listElements } from '../fields/field-lines.ts';
import { undici } from '../on-demand.ts';
import { ConnectionLife } from '../upstream/connection-life.ts';
import type { NameLookup } from '../upstream/name-lookup.ts';
import { http1 } from '../upstream/protocol/http1.ts';
import { ExternalFailure } from './external-failure.ts';
import { connectorOf } from './http-connector.ts';
import { maxAgeOf, originOf } from './service-address.ts';

/** No decision and no replaced body is larger; a service that sends more fails. */
const answerBytesMax = 64 * 1024 * 1024;

export interface ServiceRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names and values in turn, as byte strings. */
  readonly headers: readonly string[];
  readonly body: Uint8Array | undefined;
  readonly signal: AbortSignal;
}

export interface ServiceAnswer {
  readonly status: number;
  /** Names and values in turn, as byte strings; without those that its connection with the service has named. */
  readonly fields: readonly string[];
  readonly body: Buffer;
}

export interface HttpServiceTools {
  readonly clock: Clock;
  readonly names: NameLookup;
}

export class HttpService {
  readonly #clock: Clock;
  readonly #newPool: () => Pool;
  readonly #life: ConnectionLife;
  readonly #sockets = new Set<Socket>();
  #pool: Pool;
  /** Time at which the pool stops to take new requests, on the clock; its connections are no older than it. */
  #endsMs = Number.POSITIVE_INFINITY;

  constructor(destination: Destination, { clock, names }: HttpServiceTools) {
    const connect = connectorOf(destination, http1, { clock, lookup: names.lookup });
    const { Pool } = undici();
    const host = destination.host.replace(/^\[(.*)\]$/, '$1');
    this.#clock = clock;
    this.#life = new ConnectionLife(host, names, maxAgeOf(destination), () => this.#leaveAddresses());
    const watched: typeof connect = (options, done) =>
      connect(options, (error, socket) => {
        if (error !== null) done(error, null);
        else {
          this.#watch(socket);
          done(null, socket);
        }
      });
    this.#newPool = () =>
      new Pool(originOf(destination), { connect: watched, headersTimeout: 0, bodyTimeout: 0, pipelining: 1 });
    this.#pool = this.#begin();
  }

  /** Requests under way end on the connections that they have; new ones get others. */
  #renew(): void {
    const former = this.#pool;
    this.#pool = this.#begin();
    void former.close();
  }

  #begin(): Pool {
    const { ageMs } = this.#life;
    if (ageMs > 0) this.#endsMs = this.#clock.monotonicMs() + ageMs;
    return this.#newPool();
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    this.#life.opened(socket);
  }

  #leaveAddresses(): void {
    const stale = [...this.#sockets].some(({ remoteAddress = '' }) => !this.#life.isCurrent(remoteAddress));
    if (stale) this.#renew();
  }

  /** Redirects are not followed. Rejects when there is no whole answer, and at once when the signal aborts, with its reason. */
  ask(request: ServiceRequest): Promise<ServiceAnswer> {
    return untilAborted(this.#answerTo(request), request.signal);
  }

  async #answerTo({ method, path, headers, body, signal }: ServiceRequest): Promise<ServiceAnswer> {
    if (this.#endsMs <= this.#clock.monotonicMs()) this.#renew();
    const answer = await this.#pool.request({
      method,
      path,
      headers: [...headers],
      body: body === undefined ? null : body,
      signal,
      responseHeaders: 'raw',
    });
    const come = new ReceiveBuffer();
    for await (const chunk of answer.body) {
      if (!(chunk instanceof Uint8Array)) continue;
      if (come.length + chunk.length > answerBytesMax) throw new ExternalFailure('the answer is too large');
      come.append(chunk, 0, chunk.length);
    }
    return { status: answer.statusCode, fields: endToEnd(flatOf(answer.headers)), body: come.content };
  }

  close(): void {
    void this.#pool.close();
  }
}

/**
 * Rejects as soon as the signal aborts. undici heeds a signal only once a connection stands, so a caller that waits
 * for one that never does would wait on.
 */
function untilAborted(answer: Promise<ServiceAnswer>, signal: AbortSignal): Promise<ServiceAnswer> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

/** Flattens headers: raw ones are names and values in turn, as buffers or texts; otherwise they are a record. */
function flatOf(headers: unknown): string[] {
  if (Array.isArray(headers)) return headers.map((each) => (each instanceof Uint8Array ? latin1(each) : String(each)));
  if (typeof headers !== 'object' || headers === null) return [];
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((each) => [name, String(each)]));
}

/** Fields that `Connection` names are the connection's own and travel no further (RFC 9110 §7.6.1). */
function endToEnd(fields: readonly string[]): readonly string[] {
  const options = combinedValue(new FieldList(fields), 'connection');
  if (options === undefined) return fields;
  const named = new Set(listElements(options.toLowerCase()));
  return fields.filter((_, i) => !named.has((fields[i - (i % 2)] ?? '').toLowerCase()));
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
