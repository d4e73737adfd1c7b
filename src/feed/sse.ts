// The server side of the activation stream (contract.md §4.1, fleet.md §3): every proxy that connects gets the active
// configuration at once and each later one. The bytes of one activation are made once, however many clients there are.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CookieKeys } from '../model/cookie-keys.ts';
import type { Drains } from '../model/drained-endpoint.ts';
import type { Candidate, ConfigSource, ProxyConfig } from '../model/proxy-config.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { beginEvents } from '../util/event-stream-head.ts';
import type { Topic } from '../util/topic.ts';
import { CandidateFrames, noCandidate, type SentCandidate } from './candidate-frames.ts';
import { digestOf, Frames } from './event-frames.ts';
import { EventStream } from './event-stream.ts';
import type { CandidateNews } from './feed.ts';
import { SendQueue } from './subscriber-queue.ts';

const keepAliveMs = 15_000;
/** Foreign receivers read a line into a buffer of this size (contract.md §4.1). */
const foreignLineLimit = 4 * 1024 * 1024;

/** Follower of the feed: the properties of a stream's client, given by the fleet. */
export interface Follower {
  /** True when it understands more than the one event that all clients do. */
  readonly isOurs: boolean;
  /** Digest of the configuration that it has of this cluster already. */
  readonly hasSha256: string | undefined;
  /** Rollout whose candidate it has already. */
  readonly hasRollout: string | undefined;
  /** Newest known command about candidates, by log index; the client ignores older ones. 0: none is known. */
  readonly knownIndex: number;
  /** Percent that it is to serve from the candidate of this moment. */
  shareOf(candidate: Candidate): number;
  /** Further fields of the answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Questions to the client. Default: none. */
  readonly questions?: FollowerQuestions;
  /** The stream has ended. */
  closed(): void;
}

/** Questions that are sent to a client as events. */
interface FollowerQuestions {
  /** Returns the next event, once. */
  next(): Buffer | undefined;
  onAsked(look: () => void): void;
}

interface Parts {
  readonly source: ConfigSource;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Sent as `X-Sluice-Cluster`; a receiver drops its floor when it changes (architecture.md §6.13). */
  readonly clusterId: () => string;
  /** Called for each stream that stays open. Default: all clients are anonymous. */
  readonly follower?: ((request: IncomingMessage) => Follower) | undefined;
  /** Source of candidates, for clients that understand them. Default: there is never one. */
  readonly candidates?: CandidateSource | undefined;
  /** Default: it is always open. */
  readonly gate?: StreamGate | undefined;
}

/** Gate of the streams: a node that is cut off from its cluster has old configurations and gives none. */
export interface StreamGate {
  /** Reason why not. */
  readonly refusal: string | undefined;
  subscribe(subscriber: () => void): () => void;
}

export interface CandidateSource {
  readonly news: CandidateNews;
  /** True: proxies may know more of the candidate than this node, which has just started. */
  readonly isBehind: boolean;
  readonly drains: Topic<Drains>;
  readonly cookieKeys: Topic<CookieKeys>;
  /** Called when the candidate, or the share of any proxy, may have changed. */
  subscribe(subscriber: () => void): () => void;
}

interface Client {
  readonly stream: EventStream;
  readonly follower: Follower;
  told: SentCandidate;
  /** Log index of each of the `facts` that it was sent, by place. */
  readonly factIndexes: number[];
}

/** Follower of an unknown client: it gets the plain events. */
export const stranger: Follower = {
  isOurs: false,
  hasSha256: undefined,
  hasRollout: undefined,
  knownIndex: 0,
  headers: {},
  shareOf: () => 0,
  closed: () => undefined,
};

export class SnapshotStreams {
  readonly #parts: Parts;
  readonly #clients = new Set<Client>();
  readonly #queue: SendQueue;
  readonly #unsubscribe: () => void;
  readonly #unsubscribeCandidates: () => void;
  readonly #facts: readonly Fact[];
  readonly #unsubscribeFacts: readonly (() => void)[];
  readonly #unsubscribeGate: () => void;
  #frames: Frames | undefined;
  #candidateFrames: CandidateFrames;
  #cancelKeepAlive: Cancel = () => undefined;
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { clock } = parts;
    this.#queue = new SendQueue({
      now: () => clock.monotonicMs(),
      after: (delayMs, run) => clock.after(delayMs, run),
      later: (run) => void setImmediate(run),
    });
    const { candidates } = parts;
    this.#candidateFrames = new CandidateFrames(candidates?.news ?? noNews, undefined);
    // Called back at once where there is something already.
    this.#unsubscribe = parts.source.subscribe((config) => this.#publish(config));
    this.#unsubscribeCandidates = candidates?.subscribe(() => this.#offer(candidates.news)) ?? (() => undefined);
    this.#facts = candidates === undefined ? [] : factsOf(candidates);
    this.#unsubscribeFacts = this.#facts.map(({ topic }) => topic.subscribe(() => this.#lookAll()));
    this.#unsubscribeGate = parts.gate?.subscribe(() => this.#endIfRefused()) ?? (() => undefined);
    this.#scheduleKeepAlive();
  }

  /** Reason why no stream is opened at this node; undefined while they are. */
  get refusal(): string | undefined {
    return this.#parts.gate?.refusal;
  }

  /** Events that were given to clients since the start; one that was overtaken before it left counts as well. */
  sent = 0;

  /** Number of open streams. */
  get size(): number {
    return this.#clients.size;
  }

  /** Takes over a response that nothing was written to. `HEAD` gets the headers alone. */
  attach(response: ServerResponse): void {
    const { clusterId, follower } = this.#parts;
    const isOver = response.req.method === 'HEAD' || this.#closed;
    const whom = (isOver ? undefined : follower?.(response.req)) ?? stranger;
    const { hasSha256, hasRollout, headers, closed } = whom;
    if (!beginEvents(response, this.#closed, { 'X-Sluice-Cluster': clusterId(), ...headers })) return;
    // No share was sent yet: a client that has the candidate gets its share first of all.
    const told = { rollout: hasRollout, share: -1, shadowSample: 0 };
    const stream = new EventStream(response, this.#queue, () => this.#further(client) ?? whom.questions?.next());
    const client: Client = { stream, follower: whom, told, factIndexes: this.#facts.map(() => 0) };
    this.#clients.add(client);
    whom.questions?.onAsked(() => stream.look());
    response.on('close', () => {
      this.#clients.delete(client);
      closed();
    });
    const frames = this.#frames;
    if (frames === undefined) return;
    const hasIt = hasSha256 !== undefined && hasSha256 === digestOf(frames.config);
    client.stream.send(hasIt ? frames.current : frameFor(client, frames));
    client.stream.look();
    this.sent++;
  }

  /** Ends every stream without a final event and takes no more. May be called twice. */
  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    this.#unsubscribeCandidates();
    for (const unsubscribe of this.#unsubscribeFacts) unsubscribe();
    this.#unsubscribeGate();
    this.#cancelKeepAlive();
    for (const { stream } of this.#clients) stream.end();
  }

  /** Cuts the clients that have not read to their end. */
  destroy(): void {
    for (const { stream } of this.#clients) stream.destroy();
  }

  #endIfRefused(): void {
    const { refusal } = this;
    if (refusal === undefined || this.#clients.size === 0) return;
    const about = { streams: this.#clients.size, reason: refusal };
    this.#parts.logger.warn(about, 'streams of proxies end, for other nodes to serve them');
    for (const { stream } of this.#clients) stream.end();
  }

  #publish(config: ProxyConfig): void {
    const frames = new Frames(config, (bytes) => this.#warnOfSize(config, bytes));
    this.#frames = frames;
    const tried = this.#candidateFrames.candidate;
    const completed = tried?.config.id === config.id ? tried.rollout : undefined;
    for (const client of this.#clients) {
      // Who was given it as a candidate has all of it.
      const hasIt = completed !== undefined && client.follower.isOurs && client.told.rollout === completed;
      client.stream.send(hasIt ? frames.current : frameFor(client, frames));
    }
    this.sent += this.#clients.size;
  }

  #offer(news: CandidateNews): void {
    this.#candidateFrames = new CandidateFrames(news, this.#candidateFrames);
    this.#lookAll();
  }

  #lookAll(): void {
    for (const { stream, follower } of this.#clients) if (follower.isOurs) stream.look();
  }

  /**
   * Returns the event about the candidate that a client lacks: made when it is written, so that no finished state is
   * sent.
   */
  #further(client: Client): Buffer | undefined {
    const { follower, told } = client;
    if (!follower.isOurs || this.#frames === undefined) return undefined;
    const { candidate, index } = this.#candidateFrames;
    // The client would ignore the event, and would not get it again once this node has caught up. One that has the same
    // candidate goes on with its share.
    const isBehind = candidate !== undefined && this.#parts.candidates?.isBehind === true;
    if (index < follower.knownIndex || isBehind) return this.#factFor(client);
    const wanted =
      candidate === undefined
        ? noCandidate
        : {
            rollout: candidate.rollout,
            share: follower.shareOf(candidate),
            shadowSample: candidate.shadowSample ?? 0,
          };
    client.told = wanted;
    return this.#candidateFrames.frame(told, wanted) ?? this.#factFor(client);
  }

  /** Returns an event about facts beside the configuration that a client lacks. */
  #factFor({ factIndexes }: Client): Buffer | undefined {
    const place = this.#facts.findIndex(({ topic }, at) => topic.current.index !== factIndexes[at]);
    const fact = this.#facts[place];
    if (fact === undefined) return undefined;
    const { event, topic } = fact;
    factIndexes[place] = topic.current.index;
    return Buffer.from(`event: ${event}\nid: ${topic.current.index}\ndata: ${JSON.stringify(topic.current)}\n\n`);
  }

  #warnOfSize({ id }: ProxyConfig, bytes: number): void {
    if (bytes <= foreignLineLimit) return;
    this.#parts.logger.warn({ snapshot: id, bytes }, 'the snapshot exceeds what foreign proxies can read');
  }

  #scheduleKeepAlive(): void {
    this.#cancelKeepAlive = this.#parts.clock.after(keepAliveMs, () => {
      for (const { stream } of this.#clients) stream.keepAlive();
      this.#scheduleKeepAlive();
    });
  }
}

const frameFor = ({ follower }: Client, frames: Frames): Buffer => (follower.isOurs ? frames.own : frames.plain);

const noNews: CandidateNews = { candidate: undefined, index: 0 };

/** Facts beside the configuration, each with the event that carries it. */
interface Fact {
  readonly event: string;
  readonly topic: Topic<Drains> | Topic<CookieKeys>;
}

const factsOf = ({ cookieKeys, drains }: CandidateSource): Fact[] => [
  { event: 'cookieKeys', topic: cookieKeys },
  { event: 'drains', topic: drains },
];
