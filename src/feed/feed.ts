// Feed of the active configuration, and of the candidate of the rollout under way, to all subscribers: proxy workers
// of this process and the event streams to others.
import { type Drains, noDrains } from '../model/drained-endpoint.ts';
import type { Candidate, ConfigSource, ProxyConfig } from '../model/proxy-config.ts';

type Subscriber<T> = (news: T) => void;

/** Candidate of this moment, if there is one, and the log index of its command. */
export interface CandidateNews {
  readonly candidate: Candidate | undefined;
  /** Log index. */
  readonly index: number;
}

export class Feed implements ConfigSource {
  readonly #subscribers = new Set<Subscriber<ProxyConfig>>();
  readonly #candidateSubscribers = new Set<Subscriber<Candidate | undefined>>();
  readonly #drainSubscribers = new Set<Subscriber<Drains>>();
  #current: ProxyConfig | undefined;
  #drains = noDrains;
  #news: CandidateNews = { candidate: undefined, index: 0 };

  /** The last published configuration. */
  get current(): ProxyConfig | undefined {
    return this.#current;
  }

  get candidate(): CandidateNews {
    return this.#news;
  }

  /** Makes `config` the current one and hands it to every subscriber before it returns. Once per activation. */
  publish(config: ProxyConfig): void {
    this.#current = config;
    publish(this.#subscribers, config);
  }

  /** The same for the candidate. */
  offer(news: CandidateNews): void {
    this.#news = news;
    publish(this.#candidateSubscribers, news.candidate);
  }

  get drains(): Drains {
    return this.#drains;
  }

  /** The same for drained endpoints. */
  drain(drains: Drains): void {
    this.#drains = drains;
    publish(this.#drainSubscribers, drains);
  }

  subscribeDrains(subscriber: Subscriber<Drains>): () => void {
    const end = added(this.#drainSubscribers, subscriber);
    if (this.#drains.index > 0) subscriber(this.#drains);
    return end;
  }

  subscribe(subscriber: Subscriber<ProxyConfig>): () => void {
    const end = added(this.#subscribers, subscriber);
    if (this.#current !== undefined) subscriber(this.#current);
    return end;
  }

  subscribeCandidate(subscriber: Subscriber<Candidate | undefined>): () => void {
    const end = added(this.#candidateSubscribers, subscriber);
    if (this.#news.candidate !== undefined) subscriber(this.#news.candidate);
    return end;
  }
}

/** A subscription of its own, so that the same function twice is two of them. */
function added<T>(subscribers: Set<Subscriber<T>>, subscriber: Subscriber<T>): () => void {
  const one: Subscriber<T> = (news) => subscriber(news);
  subscribers.add(one);
  return () => subscribers.delete(one);
}

function publish<T>(subscribers: ReadonlySet<Subscriber<T>>, news: T): void {
  const failures: unknown[] = [];
  for (const subscriber of [...subscribers]) {
    try {
      subscriber(news);
    } catch (failure) {
      failures.push(failure);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'subscribers of the feed failed');
}
