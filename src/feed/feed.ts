// Feed of the active configuration, and of the candidate of the rollout under way, to all subscribers: proxy workers
// of this process and the event streams to others.
import { type CookieKeys, noCookieKeys } from '../model/cookie-keys.ts';
import { type Drains, noDrains } from '../model/drained-endpoint.ts';
import type { Candidate, ConfigSource, ProxyConfig } from '../model/proxy-config.ts';
import { addSubscriber, publishTo, Topic } from '../util/topic.ts';

type Subscriber<T> = (news: T) => void;

/** Candidate of this moment, if there is one, and the log index of its command. */
export interface CandidateNews {
  readonly candidate: Candidate | undefined;
  /** Log index. */
  readonly index: number;
}

export class Feed implements ConfigSource {
  readonly drains = new Topic<Drains>(noDrains);
  readonly cookieKeys = new Topic<CookieKeys>(noCookieKeys);
  readonly #subscribers = new Set<Subscriber<ProxyConfig>>();
  readonly #candidateSubscribers = new Set<Subscriber<Candidate | undefined>>();
  #current: ProxyConfig | undefined;
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
    publishTo(this.#subscribers, config);
  }

  /** The same for the candidate. */
  offer(news: CandidateNews): void {
    this.#news = news;
    publishTo(this.#candidateSubscribers, news.candidate);
  }

  subscribe(subscriber: Subscriber<ProxyConfig>): () => void {
    const end = addSubscriber(this.#subscribers, subscriber);
    if (this.#current !== undefined) subscriber(this.#current);
    return end;
  }

  subscribeCandidate(subscriber: Subscriber<Candidate | undefined>): () => void {
    const end = addSubscriber(this.#candidateSubscribers, subscriber);
    if (this.#news.candidate !== undefined) subscriber(this.#news.candidate);
    return end;
  }
}
