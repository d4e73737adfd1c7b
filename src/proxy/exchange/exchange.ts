// Exchange: one request with its response, reused for the next request of the same connection or stream slot
// (proxy.md, Exchange). Keeps the table it began with, runs its entry's chain in both directions, and every end goes
// through one function. Contains the order of events; the connections contain the protocols.

import type { ProxyErrorType } from '../../errors.ts';
import { type BodySource, pump } from '../message/body.ts';
import { cameByHttps } from '../message/forwarded-scheme.ts';
import { type ErrorPlace, type ProxyError, proxyError } from '../message/proxy-error.ts';
import type { ResponseHead } from '../message/response.ts';
import type { TunnelEnd } from '../socket/tunnel-end.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { Wheel } from '../wheel.ts';
import { type ChainOwner, ChainRunner } from './chain-runner.ts';
import { setDebugHeaders } from './debug-headers.ts';
import { type ActionExchange, type ActionRun, type ExchangeEntry, refusesOneOf } from './entry.ts';
import { EntryLookup } from './entry-lookup.ts';
import { coverBody, errorReply, type FailedExchange } from './error-replies.ts';
import type { Installed, PendingComparison, Scrape } from './exchange-context.ts';
import { guard } from './guard.ts';
import { emptyBuffer } from './held-body.ts';
import { ObservedExchange } from './observed-exchange.ts';
import type { LocalReply } from './phase.ts';
import { withoutLength } from './response-body.ts';

/**
 * `request`: request phases run. `response`: response phases run. `sending`: the head has been given to the client's
 * connection.
 */
type Phase = 'idle' | 'request' | 'action' | 'response' | 'sending';

export class Exchange extends ObservedExchange implements ActionExchange, ChainOwner, FailedExchange {
  readonly state: unknown[] = [];
  run: ActionRun | undefined;
  #phase: Phase = 'idle';
  readonly #lookup = new EntryLookup();
  readonly #chain = new ChainRunner(this);
  #running = false;
  #counted = true;
  #scraping: Scrape | undefined;
  /** Upstream of an accepted upgrade, until the response phase is over. */
  #upgraded: TunnelEnd | undefined;
  /** Comparison with a candidate that waits for the body. */
  #comparison: PendingComparison | undefined;
  /** True while the type of the response is for response phases alone. */
  #hidesType = false;

  /** Begins a request whose head is whole. */
  begin(): void {
    this.#open();
    this.wasRead = true;
    const { request, context } = this;
    const lookup = this.#lookup;
    if (!request.repeats) lookup.forget();
    const settings = context.settings();
    const { metricsPath, metricsClients, uniqueParameters, strictSections, redirect } = settings;
    const isScrape = metricsPath !== undefined && request.path === metricsPath && isRead(request.method);
    if (isScrape && (metricsClients?.has(request.clientIp) ?? true)) {
      this.#scrape();
      return;
    }
    this.trace = context.traces?.begin(request);
    const installed = context.installed(request);
    this.installed = installed;
    const served = lookup.listenerIn(installed.listeners, settings, context);
    request.section = served?.whole ?? served?.sectionOf(request.host);
    const refused = guard(request, uniqueParameters, strictSections ? served : undefined);
    if (refused !== undefined) {
      this.fail(refused);
      return;
    }
    if (redirect !== undefined && !cameByHttps(request)) {
      this.#redirect(redirect(request));
      return;
    }
    const entry = lookup.find(installed, request);
    if (request.isExhausted) this.fail(proxyError('expression_limit'));
    else if (request.bodyWanted && context.dataPlane.celBodyMaxSize > 0) this.#matchWithBody(installed);
    else this.#serve(entry);
  }

  /**
   * Ends an exchange whose request cannot be read further: sends the error, if that is still possible, and closes.
   */
  refuse(error: ProxyError): void {
    if (this.#phase === 'idle') this.#open();
    else this.cancelRun();
    if (this.#phase === 'sending') {
      this.abortReason = error.type;
      this.downstream.response.abort();
      return;
    }
    this.#chain.interrupt();
    this.#render(error);
    this.#hideType();
    this.#phase = 'sending';
    this.downstream.response.answer(this.response, true);
  }

  /**
   * Aborts the exchange: the client has gone, or cannot send on. Not a failure of the upstream's, unless `why` gives
   * the reason why its response was cut short.
   */
  abort(why: ProxyErrorType | '' = ''): void {
    if (this.#phase === 'idle') return;
    this.aborted = true;
    if (why !== '') this.abortReason = why;
    this.cancelRun();
    this.#finish();
  }

  /** Ends the exchange: the response has been written to its end. */
  onResponseSent(): void {
    this.#finish();
  }

  // Interface for middlewares.

  interrupt(reply: LocalReply): void {
    if (this.#phase === 'idle') return;
    if (this.#phase === 'sending') {
      this.downstream.response.abort();
      return;
    }
    this.#chain.interrupt();
    this.cancelRun();
    this.#local(reply);
    this.#send();
    this.downstream.response.flush();
  }

  // Interface for actions.

  get wheel(): Wheel {
    return this.context.wheel;
  }

  get retryBytesMax(): number {
    return this.context.dataPlane.retryBufferBytes;
  }

  get upstreams(): Upstreams {
    return (this.installed ?? this.context.installed(this.request)).upstreams;
  }

  reply(reply: LocalReply): void {
    this.#local(reply);
    this.#respond(this.#chain.count - 1);
  }

  relay(head: ResponseHead, source: BodySource): void {
    if (this.downstream.readsAsTunnel(head.status)) {
      const place = { destination: this.destinationId, endpoint: this.endpoint };
      this.cancelRun();
      this.fail(noTunnel(head.status, place));
      return;
    }
    this.response.relayed(head, source);
    if (head.status >= 400) coverBody(this, head.status);
    if (this.#chain.count === 0) this.#send();
    else this.#respond(this.#chain.count - 1);
  }

  switch(head: ResponseHead, upstream: TunnelEnd, rest: Buffer): void {
    this.response.relayed(head, this.downstream);
    this.response.source = undefined;
    this.#upgraded = upstream;
    this.#respond(this.#chain.count - 1, () => {
      this.#upgraded = undefined;
      this.downstream.tunnel(this.response, upstream, rest);
      this.#finish();
    });
  }

  fail(error: ProxyError): void {
    if (this.#phase === 'sending') {
      this.abortReason = error.type;
      this.downstream.response.abort();
      return;
    }
    const begun = this.#phase === 'response';
    this.#chain.interrupt();
    this.#render(error);
    // An interrupted response phase does not run again: its middlewares have run.
    if (begun) this.#send();
    else this.#respond(this.#chain.count - 1);
  }

  // Interface for the chain.

  attachBody(): Promise<undefined> | undefined {
    const { celBodyMaxSize } = this.context.dataPlane;
    if (celBodyMaxSize === 0) return undefined;
    const { view } = this.request;
    if (!view.hasBody && this.bodyKind === 'none') view.attachBody({ raw: '', whole: true });
    return view.hasBody ? undefined : this.#readBody(celBodyMaxSize);
  }

  onRequestPassed({ action }: ExchangeEntry): void {
    this.#phase = 'action';
    this.#running = true;
    action?.begin(this);
  }

  onRejected(reply: LocalReply): void {
    this.#local(reply);
    this.#respond(this.#chain.count - 2);
  }

  onReplaced(reply: LocalReply): void {
    this.cancelRun();
    this.#local(reply);
  }

  onResponsePassed(): void {
    this.#send();
  }

  unavailable(): LocalReply {
    const error = proxyError('middleware_unavailable');
    this.error = error.type;
    return errorReply(this, error);
  }

  /** Answers in place of routing; a request without a host has nowhere to go (RFC 9112 §3.2). */
  #redirect(reply: LocalReply | undefined): void {
    if (reply === undefined) this.fail(proxyError('bad_request', {}, 'no Host'));
    else this.reply(reply);
  }

  #open(): void {
    const { context } = this;
    this.#phase = 'request';
    this.startedMs = this.nowMs;
    this.observer = context.observer();
    this.body.begin();
  }

  #serve(entry: ExchangeEntry | undefined): void {
    this.entry = entry;
    const shadow = this.installed?.shadow;
    if (shadow !== undefined) this.#comparison = shadow.take(this.request, entry, this.context);
    if (entry !== undefined) {
      this.trace?.matched(entry);
      this.observer?.onMatch(entry);
    }
    if (entry === undefined) this.fail(proxyError('no_route'));
    else if (entry.refusing !== undefined && refusesOneOf(entry.refusing, this.request))
      this.fail(proxyError('repeated_field'));
    else if (this.bodyKind !== 'none' && !this.#fits(entry)) this.fail(proxyError('body_too_large'));
    else if (entry.closed !== undefined || entry.action === undefined)
      this.fail(proxyError(entry.closed ?? 'middleware_unavailable'));
    else if (entry.links.length === 0) this.onRequestPassed(entry);
    else this.#chain.runRequest(entry);
  }

  #fits({ bodyBytesMax = this.context.settings().bodyBytesMax }: ExchangeEntry): boolean {
    return this.body.limit(bodyBytesMax, this.#onBodyTooLarge);
  }

  readonly #onBodyTooLarge = (): void => {
    this.cancelRun();
    this.fail(proxyError('body_too_large'));
    this.downstream.response.flush();
  };

  /** Matches again with the body: an expression reads it. */
  #matchWithBody(installed: Installed): void {
    const match = (): void => {
      const entry = installed.table.match(this.request);
      if (this.request.isExhausted) this.fail(proxyError('expression_limit'));
      else this.#serve(entry);
    };
    const body = this.attachBody();
    if (body === undefined) match();
    else this.#chain.resumeAfter(body, (reply) => (reply === undefined ? match() : this.onRejected(reply)));
  }

  /** Runs the response phases from the place `from` outwards. `then`: called in place of sending the response. */
  #respond(from: number, then?: () => void): void {
    this.#phase = 'response';
    this.#chain.runResponse(from, then);
  }

  #send(): void {
    const { response, downstream } = this;
    this.#phase = 'sending';
    if (this.context.settings().debugHeaders) setDebugHeaders(response, this.entry === undefined ? undefined : this);
    this.#hideType();
    const { source } = response;
    if (source === undefined) downstream.response.answer(response, false);
    else {
      downstream.response.relay(response);
      pump(source, downstream.response);
    }
  }

  async #readBody(bytesMax: number): Promise<undefined> {
    const { epoch } = this.#chain;
    const body = await this.collectRequestBody(bytesMax);
    if (epoch !== this.#chain.epoch) return undefined;
    const bytes = body?.bytes ?? emptyBuffer;
    const raw = bytes.subarray(0, bytesMax).toString('utf8');
    this.request.view.attachBody({ raw, whole: body?.whole === true && bytes.length <= bytesMax });
    this.#settleComparison();
    return undefined;
  }

  #settleComparison(): void {
    this.#comparison?.settle();
    this.#comparison = undefined;
  }

  /** Takes the type out of the head of a response that was rendered for HEAD; one that a middleware has set stays. */
  #hideType(): void {
    if (this.#hidesType) this.response.edits.removeParsed('content-type');
    this.#hidesType = false;
  }

  #local({ status, fields, body, lengthUnknown, hidesType }: LocalReply): void {
    this.#hidesType = hidesType === true;
    if (this.downstream.readsAsTunnel(status)) {
      this.#render(noTunnel(status));
      return;
    }
    const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    this.response.clear();
    this.response.local(status, fields, bytes);
    if (lengthUnknown === true) withoutLength(this.response);
  }

  #render(error: ProxyError): void {
    this.error = error.type;
    this.#local(errorReply(this, error));
  }

  /** Serves the metrics path of the listener, which is neither routed nor counted. */
  #scrape(): void {
    this.#counted = false;
    this.#scraping = this.context.scrape();
    this.#chain.resumeAfter(this.#scraping.reply, (reply) => {
      if (reply !== undefined) this.reply(reply);
    });
  }

  #endScrape(): void {
    this.#scraping?.end();
    this.#scraping = undefined;
  }

  #count(): void {
    const { context, response } = this;
    const { nowMs } = this;
    if (this.installed?.isOver !== true) {
      context.figures.count(this.role, response.status, this.error !== '', nowMs - this.startedMs);
    }
    context.recent?.note(this, this.entry, nowMs, this.wasRead, this.#chain);
    const observer = this.observer;
    if (observer === undefined) return;
    if (this.entry !== undefined) this.#chain.report(this.entry.links, observer);
    observer.onFinish(this, this.entry);
  }

  protected cancelRun(): void {
    this.#upgraded?.destroy();
    this.#upgraded = undefined;
    if (!this.#running) return;
    this.#running = false;
    this.run?.cancel();
  }

  #finish(): void {
    if (this.#phase === 'idle') return;
    this.#chain.interrupt();
    if (this.#comparison !== undefined) this.#settleComparison();
    if (this.#chain.count > 0) this.#chain.finish();
    if (this.#counted) this.#count();
    else this.#endScrape();
    this.trace?.finish(this);
    if (this.#running) this.run?.over();
    this.#phase = 'idle';
    this.#running = false;
    this.#counted = true;
    this.#hidesType = false;
    this.body.clear();
    this.upstreamQuery = undefined;
    this.clearFacts();
    if (this.#chain.count > 0) this.state.length = 0;
    this.#chain.clear();
    this.response.clear();
  }
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

const noTunnel = (status: number, place: ErrorPlace = {}): ProxyError =>
  proxyError('bad_response', place, `${status} to a WebSocket, and nothing switched to it`);
