// Facts that their subscribers get at once and with each change: the last value wins.

export class Topic<T extends { readonly index: number }> {
  readonly #subscribers = new Set<(news: T) => void>();
  #current: T;

  /** @param none with index 0: there is no news yet. */
  constructor(none: T) {
    this.#current = none;
  }

  get current(): T {
    return this.#current;
  }

  /** Hands `news` to every subscriber before it returns. */
  publish(news: T): void {
    this.#current = news;
    publishTo(this.#subscribers, news);
  }

  /** Calls `subscriber` at once where there is news. Returns the end of the subscription. */
  subscribe(subscriber: (news: T) => void): () => void {
    const end = addSubscriber(this.#subscribers, subscriber);
    if (this.#current.index > 0) subscriber(this.#current);
    return end;
  }
}

/** Adds a subscription of its own, so that the same function twice is two of them. */
export function addSubscriber<T>(subscribers: Set<(news: T) => void>, subscriber: (news: T) => void): () => void {
  const one = (news: T): void => subscriber(news);
  subscribers.add(one);
  return () => subscribers.delete(one);
}

/** Calls every subscriber, also after one has failed. Throws AggregateError when some failed. */
export function publishTo<T>(subscribers: ReadonlySet<(news: T) => void>, news: T): void {
  const failures: unknown[] = [];
  for (const subscriber of [...subscribers]) {
    try {
      subscriber(news);
    } catch (failure) {
      failures.push(failure);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'subscribers failed');
}
