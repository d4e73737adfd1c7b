// Exchange: one request with its response, reused for the next request of the same connection or stream slot
// (proxy.md, Exchange). Keeps the table it began with, runs its entry's chain in both directions, and every end goes
// through one function. Contains the order of events; the connections contain the protocols.

import type { ProxyErrorType } from '../../errors.ts';
import type { Clock } from '../../util/clock.ts';
import { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import { type BodySource, pump } from '../message/body.ts';
import { isGrpc } from '../message/grpc.ts';
import { type ErrorPlace, type ProxyError, proxyError, renderProxyError, statusOf } from '../message/proxy-error.ts';
import type { ResponseHead } from '../message/response.ts';
import { currentRead } from '../socket/read-clock.ts';
import type { TunnelEnd } from '../socket/tunnel-end.ts';
import type { ExchangeTrace } from '../tracing/exchange-trace.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { Wheel } from '../wheel.ts';
import { ChainRecord } from './chain-record.ts';
import { setDebugHeaders } from './debug-headers.ts';
import type { Downstream } from './downstream.ts';
import {
  type ActionExchange,
  type ActionRun,
  type ErrorPages,
  type ExchangeEntry,
  type Link,
  refusesOneOf,
  takesPart,
} from './entry.ts';
import type {
  ExchangeContext,
  ExchangeObserver,
  Installed,
  PendingComparison,
  ServedListener,
  ServedListeners,
  ServeSettings,
} from './exchange-context.ts';
import { guard } from './guard.ts';
import { emptyBuffer } from './held-body.ts';
import { LimitedBody } from './limited-body.ts';
import { Messages } from './messages.ts';
import type { LocalReply, MiddlewareResult, Tally } from './phase.ts';
import { withoutLength } from './response-body.ts';
import type { Verdict } from './verdict.ts';

/**
 * `request`: request phases run. `response`: response phases run. `sending`: the head has been given to the client's
 * connection.
 */
type Phase = 'idle' | 'request' | 'action' | 'response' | 'sending';

const noSnapshot = { index: 0, id: '', name: '' };
const nowhere = { id: '', name: '' };

export class Exchange extends Messages implements ActionExchange {
  readonly context: ExchangeContext;
  readonly state: unknown[] = [];
  run: ActionRun | undefined;
  startedMs = 0;
  destinationId = '';
  endpoint = '';
  attempts = 0;
  attemptMs = 0;
  connectMs = -1;
  upstreamMs = -1;
  error: ProxyErrorType | '' = '';
  aborted = false;
  abortReason: ProxyErrorType | '' = '';
  trace: ExchangeTrace | undefined;
  #phase: Phase = 'idle';
  /** Number of exchanges so far: a late callback belongs to an earlier one. */
  #epoch = 0;
  #installed: Installed | undefined;
  #entry: ExchangeEntry | undefined;
  /** Entry of the last request with this head, and the id of its table; 0: none. */
  #matched: ExchangeEntry | undefined;
  #matchedBy = 0;
  /** Listener that requests come in on, and what it was found by: not the configuration, which would outlive its use. */
  #served: ServedListener | undefined;
  #listeners: ServedListeners | undefined;
  #settings: ServeSettings | undefined;
  readonly #chain = new ChainRecord();
  #running = false;
  #observer: ExchangeObserver | undefined;
  #counted = true;
  /** Upstream of an accepted upgrade, until the response phase is over. */
  #upgraded: TunnelEnd | undefined;
  #choseEndpoint = false;
  /** Body of unknown length under a limit. */
  #limitedBody: LimitedBody | undefined;
  /** Comparison with a candidate that waits for the body. */
  #comparison: PendingComparison | undefined;
  /** Read whose time was taken last, and that time. */
  #timedRead = 0;
  #readMs = 0;
  /** True when a request was read and `request` holds its head. */
  #wasRead = false;

  constructor(downstream: Downstream, context: ExchangeContext) {
    super(downstream);
    this.context = context;
  }

  /** Begins a request whose head is whole. */
  begin(): void {
    this.#open();
    this.#wasRead = true;
    const { request, context } = this;
    if (!request.repeats) this.#matchedBy = 0;
    const settings = context.settings();
    const { metricsPath, metricsClients, uniqueParameters, strictSections, redirect } = settings;
    const isScrape = metricsPath !== undefined && request.path === metricsPath && isRead(request.method);
    if (isScrape && (metricsClients?.has(request.clientIp) ?? true)) {
      this.#scrape();
      return;
    }
    this.trace = context.traces?.begin(request);
    const installed = context.installed(request);
    this.#installed = installed;
    const { listeners } = installed;
    if (listeners !== this.#listeners || settings !== this.#settings) this.#follow(listeners, settings);
    const served = this.#served;
    request.section = served?.whole ?? served?.sectionOf(request.host);
    const refused = guard(request, uniqueParameters, strictSections ? served : undefined);
    if (refused !== undefined) {
      this.fail(refused);
      return;
    }
    if (redirect !== undefined) {
      this.#redirect(redirect(request));
      return;
    }
    const entry = this.#match(installed);
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
    this.#epoch++;
    this.#render(error);
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

  get clock(): Clock {
    return this.context.clock;
  }

  get nowMs(): number {
    const read = currentRead();
    if (read !== 0 && read === this.#timedRead) return this.#readMs;
    this.#timedRead = read;
    this.#readMs = this.context.clock.monotonicMs();
    return this.#readMs;
  }

  get route(): { readonly id: string; readonly name: string } {
    return this.#entry?.route ?? nowhere;
  }

  get group(): { readonly id: string; readonly name: string } | undefined {
    return this.#entry?.group;
  }

  get snapshot(): { readonly index: number; readonly id: string; readonly name: string } {
    return this.#installed?.snapshot ?? noSnapshot;
  }

  get consumers(): ConsumerDirectory {
    return this.#installed?.consumers ?? ConsumerDirectory.none;
  }

  get role(): 'stable' | 'candidate' {
    return this.#installed?.role ?? 'stable';
  }

  interrupt(reply: LocalReply): void {
    if (this.#phase === 'idle') return;
    if (this.#phase === 'sending') {
      this.downstream.response.abort();
      return;
    }
    this.#epoch++;
    this.cancelRun();
    this.#local(reply);
    this.#send();
    this.downstream.response.flush();
  }

  tally(slot: number, count: Tally, value: string, by: number): void {
    const link = this.#entry?.links[slot];
    if (link !== undefined) this.#observer?.onTally(link, count, value, by);
  }

  // Interface for actions.

  get wheel(): Wheel {
    return this.context.wheel;
  }

  get retryBytesMax(): number {
    return this.context.dataPlane.retryBufferBytes;
  }

  get upstreams(): Upstreams {
    return (this.#installed ?? this.context.installed(this.request)).upstreams;
  }

  onEndpoint(destinationId: string, endpoint: string): void {
    this.endpoint = endpoint;
    if (this.#choseEndpoint) return;
    this.#choseEndpoint = true;
    this.#observer?.onEndpoint(destinationId);
  }

  onRetry(n: number): void {
    if (this.#entry !== undefined) this.#observer?.onRetry(this.#entry, n);
  }

  onNothingSent(): void {
    if (!this.#choseEndpoint) return;
    this.#choseEndpoint = false;
    this.endpoint = '';
    this.#observer?.onNoEndpoint(this.destinationId);
  }

  copyCounter(destinationId: string): (() => void) | undefined {
    const entry = this.#entry;
    const observer = this.#observer;
    return entry && observer && (() => observer.onMirror(entry, destinationId));
  }

  verdictReporter(destinationId: string): (verdict: Verdict) => void {
    const { context, request } = this;
    const { method, host, path } = request;
    const entry = this.#entry;
    const observer = this.#observer;
    const installed = this.#installed;
    return (verdict) => {
      const { result, difference } = verdict;
      if (result !== 'skipped' && installed?.isOver !== true)
        context.figures.countComparison(installed?.role ?? 'stable', result === 'same');
      if (entry === undefined) return;
      observer?.onVerdict(entry, destinationId, verdict);
      if (result === 'same' || result === 'skipped' || difference === undefined) return;
      const { id: routeId, name: route } = entry.route;
      context.mismatches({ method, host, path, route, routeId, destination: destinationId, result, ...difference });
    };
  }

  reply(reply: LocalReply): void {
    this.#local(reply);
    this.#runResponsePhase(this.#chain.count - 1);
  }

  relay(head: ResponseHead, source: BodySource): void {
    if (this.downstream.readsAsTunnel(head.status)) {
      const place = { destination: this.destinationId, endpoint: this.endpoint };
      this.cancelRun();
      this.fail(noTunnel(head.status, place));
      return;
    }
    this.response.relayed(head, source);
    if (head.status >= 400) this.#coverBody(head.status);
    if (this.#chain.count === 0) this.#send();
    else this.#runResponsePhase(this.#chain.count - 1);
  }

  switch(head: ResponseHead, upstream: TunnelEnd, rest: Buffer): void {
    this.response.relayed(head, this.downstream);
    this.response.source = undefined;
    this.#upgraded = upstream;
    this.#runResponsePhase(this.#chain.count - 1, () => {
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
    this.#epoch++;
    this.#render(error);
    // An interrupted response phase does not run again: its middlewares have run.
    if (begun) this.#send();
    else this.#runResponsePhase(this.#chain.count - 1);
  }

  /** Takes up the listener of another configuration, or under other settings: it may match the same head otherwise. */
  #follow(listeners: ServedListeners | undefined, settings: ServeSettings): void {
    const served = listeners && this.context.served(listeners);
    this.#listeners = listeners;
    this.#settings = settings;
    if (served === this.#served) return;
    this.#served = served;
    this.#matchedBy = 0;
  }

  /** Answers in place of routing; a request without a host has nowhere to go (RFC 9112 §3.2). */
  #redirect(reply: LocalReply | undefined): void {
    if (reply === undefined) this.fail(proxyError('bad_request', {}, 'no Host'));
    else this.reply(reply);
  }

  /** Matches the request. One that repeats the previous head gets the same entry, where the head alone decides. */
  #match({ table }: Installed): ExchangeEntry | undefined {
    const { headTable = 0 } = table;
    const { request } = this;
    if (headTable !== 0 && headTable === this.#matchedBy) return this.#matched;
    const entry = table.match(request);
    this.#matchedBy = headTable;
    this.#matched = headTable === 0 ? undefined : entry;
    return entry;
  }

  #open(): void {
    const { context } = this;
    this.#phase = 'request';
    this.startedMs = this.nowMs;
    this.#observer = context.observer();
    this.body.begin();
  }

  #serve(entry: ExchangeEntry | undefined): void {
    this.#entry = entry;
    const shadow = this.#installed?.shadow;
    if (shadow !== undefined) this.#comparison = shadow.take(this.request, entry, this.context);
    if (entry !== undefined) {
      this.trace?.matched(entry);
      this.#observer?.onMatch(entry);
    }
    if (entry === undefined) this.fail(proxyError('no_route'));
    else if (entry.refusing !== undefined && refusesOneOf(entry.refusing, this.request))
      this.fail(proxyError('repeated_field'));
    else if (this.bodyKind !== 'none' && !this.#fits(entry.bodyBytesMax ?? this.context.settings().bodyBytesMax))
      this.fail(proxyError('body_too_large'));
    else if (entry.closed !== undefined || entry.action === undefined)
      this.fail(proxyError(entry.closed ?? 'middleware_unavailable'));
    else if (entry.links.length === 0) this.#runAction(entry);
    else this.#runRequestPhase(entry, 0);
  }

  /** Returns whether the body is within the limit, as far as its head says; one of unknown length is limited as it comes. */
  #fits(bytesMax: number): boolean {
    if (bytesMax === 0) return true;
    if (this.bodyKind === 'length') return this.request.bodyLength <= bytesMax;
    this.wrapRequestBody((source) => {
      this.#limitedBody = new LimitedBody(source, bytesMax, () => this.#onBodyTooLarge());
      return this.#limitedBody;
    }, true);
    return true;
  }

  #onBodyTooLarge(): void {
    this.cancelRun();
    this.fail(proxyError('body_too_large'));
    this.downstream.response.flush();
  }

  #runAction(entry: ExchangeEntry): void {
    this.#phase = 'action';
    this.#running = true;
    entry.action?.begin(this);
  }

  /** Matches again with the body: an expression reads it. */
  #matchWithBody(installed: Installed): void {
    const match = (): void => {
      const entry = installed.table.match(this.request);
      if (this.request.isExhausted) this.fail(proxyError('expression_limit'));
      else this.#serve(entry);
    };
    if (this.#bodyAttached()) match();
    else this.#resumeAfter(this.#attachBody(), (reply) => (reply === undefined ? match() : this.#rejected(reply)));
  }

  /** Runs the request phases from link `from` on, then the action. */
  #runRequestPhase(entry: ExchangeEntry, from: number): void {
    for (let slot = from; slot < entry.links.length; slot++) {
      const link = entry.links[slot];
      if (link === undefined) break;
      if (link.needsBody && this.context.dataPlane.celBodyMaxSize > 0 && !this.#bodyAttached()) {
        const again = slot;
        this.#resumeAfter(this.#attachBody(), (reply) =>
          reply === undefined ? this.#runRequestPhase(entry, again) : this.#rejected(reply),
        );
        return;
      }
      if (!takesPart(link, this.request)) {
        link.phases.onSkip?.(this);
        continue;
      }
      this.#chain.enter(slot);
      const result = this.#callPhase(link, slot, this.#chain.count - 1, 'onRequest');
      if (result === undefined) continue;
      if (result instanceof Promise) {
        const next = slot + 1;
        this.#resumeAfter(result, (reply) => {
          if (reply === undefined) this.#runRequestPhase(entry, next);
          else this.#rejected(reply);
        });
      } else this.#rejected(result);
      return;
    }
    this.#runAction(entry);
  }

  /** Answers with the reply of the innermost middleware; those around it run their response phases. */
  #rejected(reply: LocalReply): void {
    this.#noteRejection(this.#chain.count - 1, reply.status);
    this.#local(reply);
    this.#runResponsePhase(this.#chain.count - 2);
  }

  /** Records that the link at that place answered. */
  #noteRejection(at: number, status: number): void {
    this.#chain.answered(at, status);
    const link = this.#entry?.links[this.#chain.slotAt(at)];
    if (link !== undefined) this.trace?.answered(link, status);
  }

  /** Runs the response phases from the place `from` outwards. */
  #runResponsePhase(from: number, send: () => void = this.#sendBound): void {
    this.#phase = 'response';
    const links = this.#entry?.links;
    for (let at = from; at >= 0; at--) {
      const slot = this.#chain.slotAt(at);
      const link = links?.[slot];
      const result = link === undefined ? undefined : this.#callPhase(link, slot, at, 'onResponse');
      if (result === undefined) continue;
      const next = at - 1;
      if (result instanceof Promise) {
        this.#resumeAfter(result, (reply) => {
          this.#runResponsePhase(next, reply === undefined ? send : this.#replaced(reply, next + 1));
        });
        return;
      }
      this.#runResponsePhase(next, this.#replaced(result, at));
      return;
    }
    send();
  }

  /** Replaces the pending response by a middleware's reply. */
  #replaced(reply: LocalReply, at: number): () => void {
    this.#noteRejection(at, reply.status);
    this.cancelRun();
    this.#local(reply);
    return this.#sendBound;
  }

  readonly #sendBound = (): void => this.#send();

  #send(): void {
    const { response, downstream } = this;
    this.#phase = 'sending';
    if (this.context.settings().debugHeaders) setDebugHeaders(response, this.#entry === undefined ? undefined : this);
    const { source } = response;
    if (source === undefined) downstream.response.answer(response, false);
    else {
      downstream.response.relay(response);
      pump(source, downstream.response);
    }
  }

  /** Calls one phase of a middleware. A phase that throws gives no protection: the request is refused. */
  #callPhase(
    link: Link,
    slot: number,
    at: number,
    phase: 'onRequest' | 'onResponse',
  ): MiddlewareResult | Promise<MiddlewareResult> {
    return this.#observer?.timesMiddlewares === true
      ? this.#callPhaseTimed(link, slot, at, phase)
      : this.#callPhaseUntimed(link, slot, phase);
  }

  #callPhaseTimed(
    link: Link,
    slot: number,
    at: number,
    phase: 'onRequest' | 'onResponse',
  ): MiddlewareResult | Promise<MiddlewareResult> {
    const { clock } = this.context;
    const fromMs = clock.monotonicMs();
    const epoch = this.#epoch;
    const note = (): void => {
      if (epoch === this.#epoch) this.#chain.spent(at, clock.monotonicMs() - fromMs);
    };
    const result = this.#callPhaseUntimed(link, slot, phase);
    if (result instanceof Promise) return result.finally(note);
    note();
    return result;
  }

  #callPhaseUntimed(
    link: Link,
    slot: number,
    phase: 'onRequest' | 'onResponse',
  ): MiddlewareResult | Promise<MiddlewareResult> {
    try {
      return phase === 'onRequest' ? link.phases.onRequest?.(this, slot) : link.phases.onResponse?.(this, slot);
    } catch {
      return this.#unavailable();
    }
  }

  /** Resumes when the promise is settled, unless the exchange has ended meanwhile. */
  #resumeAfter(promise: Promise<MiddlewareResult>, then: (result: MiddlewareResult) => void): void {
    const epoch = this.#epoch;
    const goOn = (result: MiddlewareResult): void => {
      then(result);
      this.downstream.response.flush();
    };
    promise.then(
      (result) => {
        if (epoch === this.#epoch) goOn(result);
      },
      () => {
        if (epoch === this.#epoch) goOn(this.#unavailable());
      },
    );
  }

  #unavailable(): LocalReply {
    const error = proxyError('middleware_unavailable');
    this.error = error.type;
    return this.#errorReply(error);
  }

  #bodyAttached(): boolean {
    const { view } = this.request;
    if (!view.hasBody && this.bodyKind === 'none') view.attachBody({ raw: '', whole: true });
    return view.hasBody;
  }

  async #attachBody(): Promise<undefined> {
    const { celBodyMaxSize } = this.context.dataPlane;
    const epoch = this.#epoch;
    const body = await this.collectRequestBody(celBodyMaxSize);
    if (epoch !== this.#epoch) return undefined;
    const bytes = body?.bytes ?? emptyBuffer;
    const raw = bytes.subarray(0, celBodyMaxSize).toString('utf8');
    this.request.view.attachBody({ raw, whole: body?.whole === true && bytes.length <= celBodyMaxSize });
    this.#settleComparison();
    return undefined;
  }

  #settleComparison(): void {
    this.#comparison?.settle();
    this.#comparison = undefined;
  }

  #local({ status, fields, body, lengthUnknown }: LocalReply): void {
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
    this.#local(this.#errorReply(error));
  }

  #errorReply(error: ProxyError): LocalReply {
    const { detail, errorPages } = this.context.settings();
    const status = statusOf(error);
    const page = this.#pageOf((pages) => pages.pageOf(status, error.type, this.request), errorPages);
    // A response to HEAD carries no body, so there is no type of one.
    if (page !== undefined) return this.request.method === 'HEAD' ? { ...page, fields: [] } : page;
    const body = renderProxyError(error, detail, this.context.clock.nowMs(), this.#installed?.snapshot.id);
    return { status, fields: this.request.method === 'HEAD' ? [] : jsonType, body };
  }

  /** Puts an error page in the place of an upstream's body, where one is to. Fields about the body go with it. */
  #coverBody(status: number): void {
    const { errorPages } = this.context.settings();
    if (errorPages === undefined && this.#entry?.errorPages === undefined) return;
    const page = this.#pageOf((pages) => pages.pageOver(status, this.request), errorPages);
    if (page === undefined) return;
    const { response } = this;
    response.keepLines();
    for (const name of fieldsOfBody) response.edits.remove(name);
    const [name, value] = page.fields;
    if (name !== undefined && value !== undefined) response.edits.set(name, value);
    this.replaceResponseBody(typeof page.body === 'string' ? Buffer.from(page.body, 'utf8') : page.body);
  }

  /** Finds a page: of the route, else of the listener. A call of gRPC has its status instead. */
  #pageOf(
    find: (pages: ErrorPages) => LocalReply | undefined,
    ofListener: ErrorPages | undefined,
  ): LocalReply | undefined {
    const ofRoute = this.#entry?.errorPages;
    if ((ofRoute === undefined && ofListener === undefined) || (this.#wasRead && isGrpc(this.request)))
      return undefined;
    const page = (ofRoute && find(ofRoute)) ?? (ofListener && find(ofListener));
    if (page !== undefined) this.#observer?.onErrorPage(page.status);
    return page;
  }

  /** Serves the metrics path of the listener, which is neither routed nor counted. */
  #scrape(): void {
    this.#counted = false;
    this.#resumeAfter(this.context.scrape(), (reply) => {
      if (reply !== undefined) this.reply(reply);
    });
  }

  #count(): void {
    const { context, response } = this;
    const { nowMs } = this;
    if (this.#installed?.isOver !== true) {
      context.figures.count(this.role, response.status, this.error !== '', nowMs - this.startedMs);
    }
    context.recent?.note(this, this.#entry, nowMs, this.#wasRead, this.#chain);
    const observer = this.#observer;
    if (observer === undefined) return;
    if (this.#entry !== undefined) this.#chain.report(this.#entry.links, observer);
    observer.onFinish(this, this.#entry);
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
    this.#epoch++;
    if (this.#comparison !== undefined) this.#settleComparison();
    if (this.#limitedBody !== undefined) this.#limitedBody.close();
    this.#limitedBody = undefined;
    const links = this.#entry?.links;
    for (let at = 0; at < this.#chain.count; at++) {
      const slot = this.#chain.slotAt(at);
      links?.[slot]?.phases.onFinish?.(this, slot);
    }
    if (this.#counted) this.#count();
    this.trace?.finish(this);
    this.trace = undefined;
    if (this.#running) this.run?.over();
    this.#phase = 'idle';
    this.#running = false;
    this.#observer = undefined;
    this.#counted = true;
    this.#choseEndpoint = false;
    this.#wasRead = false;
    this.#installed = undefined;
    this.#entry = undefined;
    this.body.clear();
    this.destinationId = '';
    this.endpoint = '';
    this.attempts = 0;
    this.connectMs = -1;
    this.upstreamMs = -1;
    this.upstreamQuery = undefined;
    this.error = '';
    this.aborted = false;
    this.abortReason = '';
    if (this.#chain.count > 0) this.state.length = 0;
    this.#chain.clear();
    this.response.clear();
  }
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

const noTunnel = (status: number, place: ErrorPlace = {}): ProxyError =>
  proxyError('bad_response', place, `${status} to a WebSocket, and nothing switched to it`);

/** Fields that describe the body of the upstream. */
const fieldsOfBody = [
  'Content-Encoding',
  'Content-Language',
  'Content-Disposition',
  'Content-Range',
  'Accept-Ranges',
  'Content-Digest',
  'Repr-Digest',
  'ETag',
  'Last-Modified',
];

const jsonType = ['Content-Type', 'application/json'];
