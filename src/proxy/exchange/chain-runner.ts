// Chain runner: runs the middlewares of an exchange in both directions, and records what they did (contract.md §6.7).
// Their phases end at once as a rule; after one that waits the chain goes on, unless the exchange is over by then.

import { ChainRecord } from './chain-record.ts';
import type { Downstream } from './downstream.ts';
import { type ExchangeEntry, type Link, takesPart } from './entry.ts';
import type { ExchangeObserver } from './exchange-context.ts';
import type { LocalReply, MiddlewareExchange, MiddlewareResult } from './phase.ts';

/** Exchange whose chain is run. */
export interface ChainOwner extends MiddlewareExchange {
  readonly downstream: Downstream;
  readonly entry: ExchangeEntry | undefined;
  readonly observer: ExchangeObserver | undefined;
  /** Attaches the body for expressions. Returns undefined when it is attached already, or none is read. */
  attachBody(): Promise<undefined> | undefined;
  /** Called when no link has answered the request. */
  onRequestPassed(entry: ExchangeEntry): void;
  /** Called when a link has answered the request; those around it are to run their response phases. */
  onRejected(reply: LocalReply): void;
  /** Called when a reply takes the place of the response, which is still pending. */
  onReplaced(reply: LocalReply): void;
  /** Called when the response phases are over. */
  onResponsePassed(): void;
  /** Returns the reply of a phase that throws: it gives no protection, and the request is refused. */
  unavailable(): LocalReply;
}

type Phase = 'onRequest' | 'onResponse';

export class ChainRunner extends ChainRecord {
  readonly #exchange: ChainOwner;
  /** Number of exchanges and interruptions so far: a late callback belongs to an earlier one. */
  #epoch = 0;
  readonly #respond: () => void;

  constructor(exchange: ChainOwner) {
    super();
    this.#exchange = exchange;
    this.#respond = () => exchange.onResponsePassed();
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Interrupts the chain: what it waits for comes too late. */
  interrupt(): void {
    this.#epoch++;
  }

  /** Runs the request phases from link `from` on. */
  runRequest(entry: ExchangeEntry, from = 0): void {
    const exchange = this.#exchange;
    for (let slot = from; slot < entry.links.length; slot++) {
      const link = entry.links[slot];
      if (link === undefined) break;
      const body = link.needsBody ? exchange.attachBody() : undefined;
      if (body !== undefined) {
        this.#goOnAfter(body, entry, slot);
        return;
      }
      if (!takesPart(link, exchange.request)) {
        link.phases.onSkip?.(exchange);
        continue;
      }
      this.enter(slot);
      const result = this.#call(link, slot, this.count - 1, 'onRequest');
      if (result === undefined) continue;
      if (result instanceof Promise) this.#goOnAfter(result, entry, slot + 1);
      else this.#reject(result);
      return;
    }
    exchange.onRequestPassed(entry);
  }

  /** Runs the response phases from the place `from` outwards. `then`: called in place of `onResponsePassed`. */
  runResponse(from: number, then: () => void = this.#respond): void {
    const links = this.#exchange.entry?.links;
    for (let at = from; at >= 0; at--) {
      const slot = this.slotAt(at);
      const link = links?.[slot];
      const result = link === undefined ? undefined : this.#call(link, slot, at, 'onResponse');
      if (result === undefined) continue;
      const next = at - 1;
      if (result instanceof Promise) {
        this.resumeAfter(result, (reply) => {
          this.runResponse(next, reply === undefined ? then : this.#replaced(reply, next + 1));
        });
        return;
      }
      this.runResponse(next, this.#replaced(result, at));
      return;
    }
    then();
  }

  /** Runs the end of all links that ran. */
  finish(): void {
    const exchange = this.#exchange;
    const links = exchange.entry?.links;
    for (let at = 0; at < this.count; at++) {
      const slot = this.slotAt(at);
      links?.[slot]?.phases.onFinish?.(exchange, slot);
    }
  }

  /** Resumes when the promise is settled, unless the exchange has ended meanwhile. */
  resumeAfter(promise: Promise<MiddlewareResult>, then: (result: MiddlewareResult) => void): void {
    const epoch = this.#epoch;
    const goOn = (result: MiddlewareResult): void => {
      then(result);
      this.#exchange.downstream.response.flush();
    };
    promise.then(
      (result) => {
        if (epoch === this.#epoch) goOn(result);
      },
      () => {
        if (epoch === this.#epoch) goOn(this.#exchange.unavailable());
      },
    );
  }

  #goOnAfter(promise: Promise<MiddlewareResult>, entry: ExchangeEntry, next: number): void {
    this.resumeAfter(promise, (reply) => {
      if (reply === undefined) this.runRequest(entry, next);
      else this.#reject(reply);
    });
  }

  /** Answers with the reply of the innermost link. */
  #reject(reply: LocalReply): void {
    this.#noteAnswer(this.count - 1, reply.status);
    this.#exchange.onRejected(reply);
  }

  /** Replaces the pending response by a middleware's reply. */
  #replaced(reply: LocalReply, at: number): () => void {
    this.#noteAnswer(at, reply.status);
    this.#exchange.onReplaced(reply);
    return this.#respond;
  }

  /** Records that the link at that place answered. */
  #noteAnswer(at: number, status: number): void {
    const { entry, trace } = this.#exchange;
    this.answered(at, status);
    const link = entry?.links[this.slotAt(at)];
    if (link !== undefined) trace?.answered(link, status);
  }

  #call(link: Link, slot: number, at: number, phase: Phase): MiddlewareResult | Promise<MiddlewareResult> {
    return this.#exchange.observer?.timesMiddlewares === true
      ? this.#callTimed(link, slot, at, phase)
      : this.#callUntimed(link, slot, phase);
  }

  #callTimed(link: Link, slot: number, at: number, phase: Phase): MiddlewareResult | Promise<MiddlewareResult> {
    const { clock } = this.#exchange;
    const fromMs = clock.monotonicMs();
    const epoch = this.#epoch;
    const note = (): void => {
      if (epoch === this.#epoch) this.spent(at, clock.monotonicMs() - fromMs);
    };
    const result = this.#callUntimed(link, slot, phase);
    if (result instanceof Promise) return result.finally(note);
    note();
    return result;
  }

  #callUntimed(link: Link, slot: number, phase: Phase): MiddlewareResult | Promise<MiddlewareResult> {
    const exchange = this.#exchange;
    try {
      return phase === 'onRequest' ? link.phases.onRequest?.(exchange, slot) : link.phases.onResponse?.(exchange, slot);
    } catch {
      return exchange.unavailable();
    }
  }
}
