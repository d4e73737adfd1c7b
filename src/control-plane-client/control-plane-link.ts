// Connections from a proxy to its control planes, on Node's own client, which is loaded for the admin port anyway: one
// stream of events at a time, and short calls beside it. Knows HTTP and the event-stream grammar, and nothing of the
// content of events (contract.md §4.2).
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createParser } from 'eventsource-parser';
import { reasonOf } from '../telemetry/error-reason.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { jsonOf } from '../util/malformed-json.ts';

export interface LinkOptions {
  /** PEM texts: certificate and key of this proxy, and the authorities that it trusts. */
  readonly tls: { readonly cert?: string; readonly key?: string; readonly ca?: string } | undefined;
  readonly apiKey: string | undefined;
  readonly clock: Clock;
}

export interface StreamEvent {
  /** Undefined: the sender numbers nothing. */
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

export interface StreamHandlers {
  /** The answer is 200; `header` looks up a field by its lower-case name. */
  onOpen(header: (name: string) => string | undefined): void;
  onEvent(event: StreamEvent): void;
  /** Something has come: it is there. */
  onByte?(): void;
  /** Called once, for any reason; nothing comes after it. */
  onEnd(reason: string): void;
}

/** Time without any byte after which the other side is gone; it sends a byte every 15 s. */
const silenceMs = 45_000;
/** Largest event in characters; what is larger cannot be a text of JavaScript beside everything else. */
const eventMax = 256 * 1024 * 1024;
const callMs = 10_000;
const connectMs = 10_000;
/** Shorter than what servers keep a connection for that nothing is asked on. */
const idleMs = 4_000;
const answerMax = 64 * 1024;
/** The same of an answer that is read. */
const jsonMax = 4 * 1024 * 1024;
/** Characters of a foreign text that the log repeats. */
const foreignTextMax = 200;

/** Parts of a request; the rest follows from the link. */
interface Sent {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Callbacks of an exchange. After `failed` or `ended` further calls do not count. */
interface Exchange {
  began(request: ClientRequest): void;
  answered(response: IncomingMessage): void;
  /** Called with an error whose message gives the reason. */
  failed(error: Error): void;
}

export class ControlPlaneLink {
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;
  readonly #clock: Clock;
  readonly #authorization: Readonly<Record<string, string>>;
  #closed = false;

  constructor({ tls, apiKey, clock }: LinkOptions) {
    this.#clock = clock;
    this.#authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    // The limit is for connections that wait; silence on the others is judged here, by one rule for heads and bodies.
    const kept = { keepAlive: true, timeout: idleMs };
    this.#http = new HttpAgent(kept);
    this.#https = new HttpsAgent({ ...kept, ...tls });
  }

  /**
   * Opens a stream at `<base>/api/v1/sync/snapshot`. Returns the function that ends it; no handler is called
   * afterwards.
   */
  follow(base: string, headers: Readonly<Record<string, string>>, handlers: StreamHandlers): Cancel {
    const stream = new Stream(base, handlers, this.#clock);
    const all = { accept: 'text/event-stream', 'cache-control': 'no-cache', ...headers, ...this.#authorization };
    this.#begin(base, '/api/v1/sync/snapshot', { method: 'GET', headers: all }, stream);
    return () => stream.leave();
  }

  /** Status of the answer, or why there is none. Never rejects. */
  async post(base: string, path: string, body: object): Promise<number | string> {
    const outcome = await this.#call(base, path, body, { withinMs: callMs, bytesMax: answerMax });
    return typeof outcome === 'string' ? outcome : outcome.status;
  }

  /** Returns the body of a 200 as JSON; undefined for any other end, and after `withinMs`. Never rejects. */
  async ask(base: string, path: string, body: object, withinMs: number): Promise<unknown> {
    const outcome = await this.#call(base, path, body, { withinMs, bytesMax: jsonMax });
    return typeof outcome === 'string' || outcome.status !== 200 ? undefined : jsonOf(outcome.body);
  }

  #call(base: string, path: string, body: object, limits: CallLimits): Promise<Answered | string> {
    return new Promise((resolve) => {
      const call = new Call(resolve, this.#clock, limits);
      const headers = { 'content-type': 'application/json', ...this.#authorization };
      this.#begin(base, path, { method: 'POST', headers, body: JSON.stringify(body) }, call);
    });
  }

  /** Breaks off what is under way. */
  close(): void {
    this.#closed = true;
    this.#http.destroy();
    this.#https.destroy();
  }

  #begin(base: string, path: string, { body, ...sent }: Sent, exchange: Exchange): void {
    try {
      if (this.#closed) throw new Error('closed');
      const { protocol, origin, pathname } = new URL(base);
      const url = `${origin}${pathname.replace(/\/+$/, '')}${path}`;
      const request =
        protocol === 'https:'
          ? httpsRequest(url, { agent: this.#https, ...sent })
          : httpRequest(url, { agent: this.#http, ...sent });
      this.#limitConnecting(request, protocol === 'https:' ? 'secureConnect' : 'connect');
      request.on('error', (error) => exchange.failed(error));
      request.on('close', () => exchange.failed(new Error('the connection was closed')));
      request.on('response', (response) => {
        response.on('error', (error) => exchange.failed(error));
        exchange.answered(response);
      });
      exchange.began(request);
      request.end(body);
    } catch (error) {
      exchange.failed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #limitConnecting(request: ClientRequest, connected: 'connect' | 'secureConnect'): void {
    const cancel = this.#clock.after(connectMs, () => request.destroy(new Error('no connection in time')));
    request.on('close', cancel);
    request.on('socket', (socket) => {
      if (request.reusedSocket) cancel();
      else socket.once(connected, cancel);
    });
  }
}

class Stream implements Exchange {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #decoder = new TextDecoder();
  readonly #parser;
  #handlers: StreamHandlers | undefined;
  #request: ClientRequest | undefined;
  #cancelSilence: Cancel = () => {};
  #lastDataMs: number;

  constructor(url: string, handlers: StreamHandlers, clock: Clock) {
    this.#url = url;
    this.#handlers = handlers;
    this.#clock = clock;
    this.#lastDataMs = clock.monotonicMs();
    this.#parser = createParser({
      onEvent: ({ id, event = 'message', data }) => this.#handlers?.onEvent({ id, event, data }),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#end('an event is larger than can be read');
      },
      maxBufferSize: eventMax,
    });
    this.#watch(silenceMs);
  }

  leave(): void {
    this.#handlers = undefined;
    this.#end('left');
  }

  began(request: ClientRequest): void {
    this.#request = request;
  }

  answered(response: IncomingMessage): void {
    this.#lastDataMs = this.#clock.monotonicMs();
    const refused = refusalOf(response, this.#url);
    if (refused !== undefined) {
      this.#end(refused);
      return;
    }
    response.on('data', (chunk: Buffer) => this.#onChunk(chunk));
    response.on('end', () => this.#end('the stream has ended'));
    this.#handlers?.onByte?.();
    this.#handlers?.onOpen((name) => {
      const value = response.headers[name];
      return Array.isArray(value) ? value[0] : value;
    });
  }

  failed(error: Error): void {
    this.#end(reasonOf(error));
  }

  #onChunk(chunk: Buffer): void {
    this.#lastDataMs = this.#clock.monotonicMs();
    this.#handlers?.onByte?.();
    if (this.#handlers !== undefined) this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
  }

  /** A timer that is not moved with each byte: it looks when the last one came. */
  #watch(delayMs: number): void {
    this.#cancelSilence = this.#clock.after(delayMs, () => {
      const leftMs = this.#lastDataMs + silenceMs - this.#clock.monotonicMs();
      if (leftMs > 0) this.#watch(leftMs);
      else this.#end(`nothing came for ${silenceMs / 1000} s`);
    });
  }

  #end(reason: string): void {
    this.#cancelSilence();
    const handlers = this.#handlers;
    this.#handlers = undefined;
    this.#request?.destroy();
    handlers?.onEnd(reason);
  }
}

/** Bounds of a call. */
interface CallLimits {
  readonly withinMs: number;
  /** Largest body of the answer in bytes. */
  readonly bytesMax: number;
}

interface Answered {
  readonly status: number;
  readonly body: Buffer;
}

class Call implements Exchange {
  readonly #cancelDeadline: Cancel;
  readonly #bytesMax: number;
  readonly #chunks: Buffer[] = [];
  #resolve: ((outcome: Answered | string) => void) | undefined;
  #request: ClientRequest | undefined;
  #length = 0;

  /** @param resolve called once, with the answer or the reason why there is none */
  constructor(resolve: (outcome: Answered | string) => void, clock: Clock, { withinMs, bytesMax }: CallLimits) {
    this.#resolve = resolve;
    this.#bytesMax = bytesMax;
    this.#cancelDeadline = clock.after(withinMs, () => {
      this.#end('no answer in time');
      this.#request?.destroy();
    });
  }

  began(request: ClientRequest): void {
    this.#request = request;
  }

  answered(response: IncomingMessage): void {
    response.on('data', (chunk: Buffer) => {
      this.#length += chunk.length;
      if (this.#length > this.#bytesMax) response.destroy(new Error('the answer is too long'));
      else this.#chunks.push(chunk);
    });
    response.on('end', () => this.#end({ status: response.statusCode ?? 0, body: Buffer.concat(this.#chunks) }));
  }

  failed(error: Error): void {
    this.#end(reasonOf(error));
  }

  #end(outcome: Answered | string): void {
    this.#cancelDeadline();
    this.#resolve?.(outcome);
    this.#resolve = undefined;
  }
}

/**
 * Returns the reason why a response is no stream of events: a login page or another intermediate answer carries no
 * configurations.
 */
function refusalOf({ statusCode = 0, headers }: IncomingMessage, url: string): string | undefined {
  const type = headers['content-type'];
  if (statusCode === 200) {
    // Foreign control planes may name none.
    if (type === undefined || /^text\/event-stream[ \t]*(?:;|$)/i.test(type)) return undefined;
    return `it answered with ${type.slice(0, foreignTextMax)} and not with an event stream`;
  }
  const location = headers.location === undefined ? null : URL.parse(headers.location, url);
  if (location === null) return `it answered ${statusCode}`;
  // The rest of the address may hold a ticket, or name its user.
  return `it answered ${statusCode}, Location ${`${location.origin}${location.pathname}`.slice(0, foreignTextMax)}`;
}
