// Entry lookup: the entry of a request in the table of its configuration, and the listener that requests of one
// connection come in on. The last entry serves a request that repeats the head before it.
import type { ExchangeRequest } from '../message/request.ts';
import type { ExchangeEntry } from './entry.ts';
import type { ExchangeContext, Installed, ServedListener, ServedListeners, ServeSettings } from './exchange-context.ts';

export class EntryLookup {
  /** Listener of the configuration: not the configuration, which would outlive its use. */
  #served: ServedListener | undefined;
  /** Listeners and settings that it was found by. */
  #listeners: ServedListeners | undefined;
  #settings: ServeSettings | undefined;
  /** Entry of the last request with this head, and the id of its table; 0: none. */
  #matched: ExchangeEntry | undefined;
  #matchedBy = 0;

  /** Forgets the last entry: the request has another head. */
  forget(): void {
    this.#matchedBy = 0;
  }

  /** Returns the listener. One of another configuration, or under other settings, may match the same head otherwise. */
  listenerIn(
    listeners: ServedListeners | undefined,
    settings: ServeSettings,
    context: ExchangeContext,
  ): ServedListener | undefined {
    if (listeners === this.#listeners && settings === this.#settings) return this.#served;
    const served = listeners && context.served(listeners);
    this.#listeners = listeners;
    this.#settings = settings;
    if (served !== this.#served) {
      this.#served = served;
      this.#matchedBy = 0;
    }
    return served;
  }

  /**
   * Matches the request. One that repeats the previous head gets the same entry, where the head alone decides; never that of
   * an exhausted request, which no entry is to serve.
   */
  find({ table }: Installed, request: ExchangeRequest): ExchangeEntry | undefined {
    const { headTable = 0 } = table;
    if (headTable !== 0 && headTable === this.#matchedBy) return this.#matched;
    const entry = table.match(request);
    this.#matchedBy = request.isExhausted ? 0 : headTable;
    this.#matched = this.#matchedBy === 0 ? undefined : entry;
    return entry;
  }
}
