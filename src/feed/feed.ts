// The active configuration and everyone who wants it: proxy workers of this process and the event streams to others.
import type { ConfigSource, ProxyConfig } from '../model/proxy-config.ts';

type Subscriber = (config: ProxyConfig) => void;

export class Feed implements ConfigSource {
  readonly #subscribers = new Set<Subscriber>();
  #current: ProxyConfig | undefined;

  /** The last published configuration. */
  get current(): ProxyConfig | undefined {
    return this.#current;
  }

  /** Makes `config` the current one and hands it to every subscriber before it returns. Once per activation. */
  publish(config: ProxyConfig): void {
    this.#current = config;
    const failures: unknown[] = [];
    for (const subscriber of [...this.#subscribers]) {
      try {
        subscriber(config);
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'subscribers of the feed failed');
  }

  subscribe(subscriber: Subscriber): () => void {
    // A subscription of its own, so that the same function twice is two of them.
    const one: Subscriber = (config) => subscriber(config);
    this.#subscribers.add(one);
    if (this.#current !== undefined) one(this.#current);
    return () => this.#subscribers.delete(one);
  }
}
