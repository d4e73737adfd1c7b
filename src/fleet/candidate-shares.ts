// Shares that each proxy of a node serves from the candidate (fleet.md §7): the share of its clients, or all or
// nothing where proxies are chosen whole. A node that is cut off from its cluster gives no client the candidate after
// a while.
import type { CandidateNews } from '../feed/feed.ts';
import type { CookieKeys } from '../model/cookie-keys.ts';
import type { Drains } from '../model/drained-endpoint.ts';
import type { Candidate, ConfigSource } from '../model/proxy-config.ts';
import { bucketOf } from '../model/rollout-bucket.ts';
import type { Topic } from '../util/topic.ts';

export interface ShareHolder {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A node that does not show yet what was agreed on before its start, and one without contact to its cluster. */
export type HoldReason = 'behind' | 'cut off';

interface CandidateFeed extends ConfigSource {
  readonly candidate: CandidateNews;
  subscribeCandidate(subscriber: (candidate: Candidate | undefined) => void): () => void;
  readonly drains: Topic<Drains>;
  readonly cookieKeys: Topic<CookieKeys>;
}

export class CandidateShares {
  readonly #feed: CandidateFeed;
  readonly #subscribers = new Set<() => void>();
  readonly #unsubscribe: () => void;
  #connected: readonly string[] = [];
  #chosen: ReadonlySet<string> = new Set();
  #held: HoldReason | undefined;

  constructor(feed: CandidateFeed) {
    this.#feed = feed;
    this.#unsubscribe = feed.subscribeCandidate(() => {
      this.#choose();
      this.#changed();
    });
  }

  /** Candidate of this moment, and the log index of its command. */
  get news(): CandidateNews {
    return this.#feed.candidate;
  }

  /** True: the rollout may have gone on, or ended, and proxies know better. */
  get isBehind(): boolean {
    return this.#held === 'behind';
  }

  get drains(): Topic<Drains> {
    return this.#feed.drains;
  }

  get cookieKeys(): Topic<CookieKeys> {
    return this.#feed.cookieKeys;
  }

  /** Percent of the clients of that proxy, 0 to 100. */
  shareOf({ by, share, labels }: Candidate, proxy: ShareHolder): number {
    if (this.#held !== undefined) return 0;
    if (labels?.some((set) => Object.entries(set).every(([key, value]) => proxy.labels[key] === value))) return 100;
    if (by === 'client') return share;
    return this.#chosen.has(proxy.id) ? 100 : 0;
  }

  /** The ids of all proxies of the cluster that are connected. */
  connected(ids: Iterable<string>): void {
    this.#connected = [...new Set(ids)];
    if (this.#choose()) this.#changed();
  }

  /** Holds the candidate for that reason: no client is served by it meanwhile. Undefined ends it. */
  hold(reason: HoldReason | undefined): void {
    if (this.#held === reason) return;
    this.#held = reason;
    this.#changed();
  }

  /** Subscribes to possible changes of the candidate and of the share of any proxy. */
  subscribe(subscriber: () => void): () => void {
    const one = (): void => subscriber();
    this.#subscribers.add(one);
    return () => this.#subscribers.delete(one);
  }

  /** Returns the source for the data plane of this process, which is `proxy`. */
  sourceOf(proxy: () => ShareHolder): ConfigSource {
    const hers = (candidate: Candidate | undefined): Candidate | undefined => {
      if (candidate === undefined) return undefined;
      const { labels: _, ...others } = candidate;
      return { ...others, share: this.shareOf(candidate, proxy()) };
    };
    return {
      subscribe: (subscriber) => this.#feed.subscribe(subscriber),
      drains: this.#feed.drains,
      cookieKeys: this.#feed.cookieKeys,
      subscribeCandidate: (subscriber) => {
        const { candidate } = this.news;
        if (candidate !== undefined) subscriber(hers(candidate));
        return this.subscribe(() => subscriber(hers(this.news.candidate)));
      },
    };
  }

  close(): void {
    this.#unsubscribe();
    this.#subscribers.clear();
  }

  /** Chooses exactly as many proxies as the share demands, in an order that all nodes agree on. */
  #choose(): boolean {
    const { candidate } = this.news;
    if (candidate?.by !== 'proxy') return false;
    const { rollout, share } = candidate;
    const ranked = this.#connected
      .map((id) => ({ id, place: bucketOf(rollout, id) }))
      .sort((a, b) => a.place - b.place);
    const count = Math.ceil((share / 100) * ranked.length - 1e-9);
    const chosen = new Set(ranked.slice(0, count).map(({ id }) => id));
    const isSame = chosen.size === this.#chosen.size && [...chosen].every((id) => this.#chosen.has(id));
    this.#chosen = chosen;
    return !isSame;
  }

  #changed(): void {
    for (const subscriber of [...this.#subscribers]) subscriber();
  }
}
