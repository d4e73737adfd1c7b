// Connections from a proxy to its control planes, on undici: one stream of events at a time, and short calls beside it.
// Knows HTTP and the event-stream grammar, and nothing of what the events say (contract.md §4.2).
import { createParser } from 'eventsource-parser';
import type { Agent, Dispatcher } from 'undici';
// By its file: the rest of the package is half of what a proxy would wait for at its start.
import UndiciAgent from 'undici/lib/dispatcher/agent.js';
import type { Cancel, Clock } from '../clock.ts';

export interface LinkOptions {
  /** PEM texts: what this proxy shows, and whom it believes. */
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
  /** Once, whatever happened; nothing comes after it. */
  onEnd(reason: string): void;
}

/** Without any byte for so long the other side is gone; it says something every 15 s. */
const silenceMs = 45_000;
/** Largest event in characters; what is larger cannot be a text of JavaScript beside everything else. */
const eventMax = 256 * 1024 * 1024;
const callMs = 10_000;
const answerMax = 64 * 1024;

export class ControlPlaneLink {
  readonly #agent: Agent;
  readonly #clock: Clock;
  readonly #authorization: Readonly<Record<string, string>>;

  constructor({ tls, apiKey, clock }: LinkOptions) {
    this.#clock = clock;
    this.#authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    this.#agent = new UndiciAgent({
      // Silence is judged here, by one rule for heads and bodies.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: 10_000, ...tls },
    });
  }

  /** Opens a stream at `<base>/api/v1/sync/snapshot`. Returns how to end it, after which nothing is told any more. */
  follow(base: string, headers: Readonly<Record<string, string>>, handlers: StreamHandlers): Cancel {
    const stream = new Stream(handlers, this.#clock);
    const all = { accept: 'text/event-stream', 'cache-control': 'no-cache', ...headers, ...this.#authorization };
    this.#dispatch(base, '/api/v1/sync/snapshot', { method: 'GET', headers: all }, stream);
    return () => stream.leave();
  }

  /** Status of the answer, or why there is none. Never rejects. */
  post(base: string, path: string, body: object): Promise<number | string> {
    return new Promise((resolve) => {
      const call = new Call(resolve, this.#clock);
      const headers = { 'content-type': 'application/json', ...this.#authorization };
      this.#dispatch(base, path, { method: 'POST', headers, body: JSON.stringify(body) }, call);
    });
  }

  /** Breaks off what is under way. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #dispatch(
    base: string,
    path: string,
    request: Pick<Dispatcher.DispatchOptions, 'method' | 'headers' | 'body'>,
    handler: Dispatcher.DispatchHandler,
  ): void {
    const { origin, pathname } = new URL(base);
    try {
      this.#agent.dispatch({ origin, path: `${pathname.replace(/\/+$/, '')}${path}`, ...request }, handler);
    } catch (error) {
      handler.onResponseError?.(noController, error instanceof Error ? error : new Error(String(error)));
    }
  }
}

// A request that undici refuses to begin has no controller, and the handlers below need none then.
const noController = undefined as unknown as Dispatcher.DispatchController;

class Stream implements Dispatcher.DispatchHandler {
  readonly #clock: Clock;
  readonly #decoder = new TextDecoder();
  readonly #parser;
  #handlers: StreamHandlers | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #cancelSilence: Cancel = () => {};
  #heardMs: number;

  constructor(handlers: StreamHandlers, clock: Clock) {
    this.#handlers = handlers;
    this.#clock = clock;
    this.#heardMs = clock.monotonicMs();
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

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#handlers === undefined) controller.abort(new Error('left'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#heardMs = this.#clock.monotonicMs();
    if (status < 200) return;
    if (status !== 200) {
      this.#end(`it answered ${status}`);
      return;
    }
    this.#handlers?.onByte?.();
    this.#handlers?.onOpen((name) => {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#heardMs = this.#clock.monotonicMs();
    this.#handlers?.onByte?.();
    if (this.#handlers !== undefined) this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
  }

  onResponseEnd(): void {
    this.#end('the stream has ended');
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#end(reasonOf(error));
  }

  /** A timer that is not moved with each byte: it looks when the last one came. */
  #watch(delayMs: number): void {
    this.#cancelSilence = this.#clock.after(delayMs, () => {
      const leftMs = this.#heardMs + silenceMs - this.#clock.monotonicMs();
      if (leftMs > 0) this.#watch(leftMs);
      else this.#end(`nothing came for ${silenceMs / 1000} s`);
    });
  }

  #end(reason: string): void {
    this.#cancelSilence();
    const handlers = this.#handlers;
    this.#handlers = undefined;
    this.#controller?.abort(new Error(reason));
    handlers?.onEnd(reason);
  }
}

class Call implements Dispatcher.DispatchHandler {
  readonly #cancelDeadline: Cancel;
  #resolve: ((outcome: number | string) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #length = 0;

  constructor(resolve: (outcome: number | string) => void, clock: Clock) {
    this.#resolve = resolve;
    this.#cancelDeadline = clock.after(callMs, () => {
      this.#end('no answer in time');
      this.#controller?.abort(new Error('deadline'));
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#resolve === undefined) controller.abort(new Error('deadline'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > answerMax) controller.abort(new Error('the answer is too long'));
  }

  onResponseEnd(): void {
    this.#end(this.#status);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#end(reasonOf(error));
  }

  #end(outcome: number | string): void {
    this.#cancelDeadline();
    this.#resolve?.(outcome);
    this.#resolve = undefined;
  }
}

/** Of several addresses that were tried, the reasons are inside. */
function reasonOf(error: Error): string {
  if (error.message !== '') return error.message;
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner instanceof Error ? inner.message : error.name;
}
