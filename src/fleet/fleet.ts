// The proxies of one node (fleet.md §3–§5): its own, and those whose streams it holds. Kept in memory: after a restart they
// come back by themselves.

import type { IncomingMessage } from 'node:http';
import { digestOf } from '../feed/event-frames.ts';
import { type Follower, stranger } from '../feed/sse.ts';
import { type NodeView, type ProxyState, proxyStates, type Version } from '../model/answers/fleet-answers.ts';
import type { ListenerReport } from '../model/answers/proxy-messages.ts';
import type { ShadowCounts } from '../model/answers/rollout-answers.ts';
import type { Acknowledgement, RolloutReport, ShadowReport, TrafficWindow } from '../model/fleet-messages.ts';
import type { Problem } from '../model/problem.ts';
import type { Candidate, ConfigSource, ProxyConfig } from '../model/proxy-config.ts';
import type { ProxyTraffic } from '../model/traffic-report.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Clock } from '../util/clock.ts';
import type { CandidateShares } from './candidate-shares.ts';
import { type RosterAnswer } from './fleet-view.ts';
import { LiveStreams } from './live-streams.ts';
import type { AcknowledgementMessage, AnswerMessage, ReportMessage } from './peer-messages.ts';
import { proxyHelloOf } from './proxy-hello.ts';
import { ProxyQuestions } from './proxy-questions.ts';
import { type Progress, type ProxyFacts, ProxyRecord } from './proxy-record.ts';
import { RolloutTally } from './rollout-tally.ts';
import { streamToken } from './stream-token.ts';

export interface FleetOptions {
  /** Name of this node. */
  readonly nodeId: string;
  readonly clusterId: () => string;
  readonly source: ConfigSource;
  readonly shares: CandidateShares;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Base64url, never the same twice. */
  readonly newRandom: () => string;
  /** Told what a proxy apart has served since its last report. Default: nothing. */
  readonly onTraffic?: (window: readonly TrafficWindow[], traffic: ProxyTraffic | undefined) => void;
  /** Told what a window of a proxy has compared for a rollout. Default: nothing. */
  readonly onShadow?: (counts: ShadowCounts) => void;
  /** Called with the name of the process when a stream of a proxy has ended. Default: nothing. */
  readonly onLeft?: (holder: string) => void;
  /** Seconds from an activation until every live proxy of this node had it. */
  readonly onConverged: (seconds: number) => void;
}

/** Progress of the live proxies of a node with one activation. */
export interface NodeProgress {
  /** Names the process that answers; absent: it is of an older version. */
  readonly life?: string;
  readonly proxies: readonly { readonly id: string; readonly state: Progress; readonly problems: readonly Problem[] }[];
}

/** Activations of which it is remembered which snapshot they were. */
const rememberedMax = 100;
/** Time and count limits for listing proxies that have left. */
const goneMs = 24 * 3_600_000;
const goneMax = 10_000;
/** Problems of a refused candidate that other nodes are told. */
const toldProblems = 3;

export class Fleet {
  readonly #options: FleetOptions;
  readonly #live = new LiveStreams();
  /** Those that have left, by id, longest ago first. */
  readonly #gone = new Map<string, ProxyRecord>();
  readonly #snapshots = new Map<number, string>();
  readonly #subscribers = new Set<() => void>();
  readonly #unsubscribe: readonly (() => void)[];
  readonly #tally = new RolloutTally();
  /** Start token of this process. */
  readonly #life: string;
  #own: ProxyRecord | undefined;
  #anonymous = 0;
  /** Counts what changes the roster. */
  #changes = 0;
  #wanted: ProxyConfig | undefined;
  /** Publication time of the activation that is on its way to the proxies. */
  #publishedMs: number | undefined;
  /** Proxy that lacked it at the last check. */
  #behind: ProxyRecord | undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#life = options.newRandom();
    const { shares, source } = options;
    const follow = (): void => this.#tally.follow(shares.news.candidate?.rollout);
    follow();
    this.#unsubscribe = [source.subscribe((config) => this.#want(config)), shares.subscribe(follow)];
  }

  /** The proxy within this process. */
  embed(facts: Pick<ProxyFacts, 'labels' | 'version'>): void {
    const { nodeId, clock } = this.#options;
    const connectedMs = clock.nowMs();
    this.#own = new ProxyRecord({
      ...facts,
      id: nodeId,
      embedded: true,
      boot: '',
      node: nodeId,
      address: '',
      connectedMs,
    });
  }

  /** Takes the acknowledgement of the proxy within this process. */
  acknowledgeLocal(word: Omit<Acknowledgement, 'sha256'>, config: ProxyConfig): void {
    if (this.#own !== undefined) this.#onAcknowledgement(this.#own, { ...word, sha256: '' }, config.id);
  }

  /** The same of the candidate. */
  acknowledgeLocalCandidate(word: Omit<Acknowledgement, 'sha256'>, { config }: Candidate): void {
    if (this.#own !== undefined) this.#onAcknowledgement(this.#own, { ...word, sha256: digestOf(config) }, config.id);
  }

  reportOwn(window: readonly TrafficWindow[], listeners: readonly ListenerReport[]): void {
    this.#own?.report(window, this.#options.clock.nowMs());
    this.#count(window);
    this.#own?.onListeners(listeners);
  }

  /** Registers a client that asks for the stream, and will hold it. */
  follower(request: IncomingMessage): Follower {
    const hello = proxyHelloOf(request.headers);
    if (hello === undefined) return this.#stranger();
    const { nodeId, clusterId, clock, newRandom } = this.#options;
    const { id, boot, labels, version, has, trial } = hello;
    const address = request.socket.remoteAddress ?? '';
    const connectedMs = clock.nowMs();
    this.#replace(id, boot, address);
    const questions = new ProxyQuestions(clock);
    const facts = { id, boot, labels, version, embedded: false, node: nodeId, address, connectedMs };
    const record = new ProxyRecord(facts, questions);
    const token = streamToken(nodeId, newRandom());
    this.#gone.delete(id);
    this.#live.enter(token, record);
    this.#changed();
    return {
      isOurs: true,
      hasSha256: has?.clusterId === clusterId() ? has.sha256 : undefined,
      hasRollout: trial?.rollout,
      knownIndex: trial?.clusterId === clusterId() ? trial.index : 0,
      shareOf: (candidate) => this.#options.shares.shareOf(candidate, record.facts),
      headers: { 'X-Sluice-Node': encodeURIComponent(nodeId), 'X-Sluice-Ack': token },
      questions,
      closed: () => this.#leave(token),
    };
  }

  /** False: no live stream of this node has that token. */
  acknowledge({ token, boot, ...word }: AcknowledgementMessage): boolean {
    const record = this.#live.get(token);
    if (record === undefined || record.facts.boot !== boot) return false;
    const { candidate } = this.#options.shares.news;
    const tried = candidate !== undefined && word.index >= candidate.since ? candidate.config.id : null;
    this.#onAcknowledgement(record, word, word.of === 'candidate' ? tried : (this.#snapshots.get(word.index) ?? null));
    return true;
  }

  /** As above. */
  report({ token, boot, window, traffic }: ReportMessage): boolean {
    const record = this.#live.get(token);
    if (record === undefined || record.facts.boot !== boot) return false;
    record.report(window, this.#options.clock.nowMs());
    this.#count(window);
    this.#options.onTraffic?.(window, traffic);
    return true;
  }

  /** Takes the answer to a question. False: no live stream of this node has that token. */
  answered({ token, boot, id, answer }: AnswerMessage): boolean {
    const record = this.#live.get(token);
    if (record === undefined || record.facts.boot !== boot) return false;
    record.questions?.answered(id, answer);
    return true;
  }

  /** Asks a live proxy that follows this node; undefined when it does not answer in time. Never rejects. */
  ask(id: string, question: object, withinMs: number): Promise<unknown> {
    const [, record] = this.#live.of(id).at(-1) ?? [];
    return record?.questions?.ask(question, withinMs) ?? Promise.resolve(undefined);
  }

  /** Returns the name of the process behind a stream, unique among all proxies; undefined: no stream has that token. */
  holderOf(token: string, boot: string): string | undefined {
    const record = this.#live.get(token);
    return record === undefined || record.facts.boot !== boot ? undefined : holderName(record.facts);
  }

  /** True while that process has a stream here. */
  isHolder(holder: string): boolean {
    return [...this.#live.records()].some(({ facts }) => holderName(facts) === holder);
  }

  /** Name of the process of the proxy within this one. */
  get ownHolder(): string {
    return holderName({ id: this.#options.nodeId, boot: this.#life });
  }

  /** Returns this node's report on the rollout under way. */
  rolloutWord(): RolloutReport {
    const since = this.#options.shares.news.candidate?.since ?? Number.POSITIVE_INFINITY;
    const proxies = [...this.#everyLive()].map((record) => {
      const told = { id: record.facts.id, state: record.trial(since) };
      return told.state === 'refused' ? { ...told, problems: record.problems.slice(0, toldProblems) } : told;
    });
    return { ...this.#tally.word(), life: this.#life, proxies };
  }

  /** Returns what this node has heard of the comparisons of the last rollout. */
  shadowWord(): ShadowReport {
    return this.#tally.shadow();
  }

  view(): NodeView {
    this.#forgetOld();
    const wanted = this.#wantedVersion();
    const records = [...this.#everyLive(), ...this.#gone.values()];
    const since = this.#options.shares.news.candidate?.since;
    return { proxies: records.map((record) => record.view(wanted, since)), anonymous: this.#anonymous };
  }

  counts(): Readonly<Record<ProxyState, number>> {
    this.#forgetOld();
    const counts = Object.fromEntries(proxyStates.map((state) => [state, 0])) as Record<ProxyState, number>;
    for (const record of this.#everyLive()) counts[record.state(this.#wanted?.index)]++;
    return { ...counts, disconnected: this.#gone.size };
  }

  progress(index: number): NodeProgress {
    const proxies = [...this.#everyLive()].map((record) => {
      const state = record.progress(index);
      return { id: record.facts.id, state, problems: state === 'refused' ? record.problems : [] };
    });
    return { life: this.#life, proxies };
  }

  /** Live proxies that follow this node, unless the caller has that list. */
  roster(known: { readonly life: string; readonly version: number }): RosterAnswer {
    const answer = { life: this.#life, version: this.#changes };
    if (known.life === answer.life && known.version === answer.version) return answer;
    const wanted = this.#wantedVersion();
    return { ...answer, proxies: [...this.#live.records()].map((record) => record.view(wanted)) };
  }

  /** Ids of the live proxies. */
  liveIds(): ReadonlySet<string> {
    return new Set([...this.#everyLive()].map(({ facts }) => facts.id));
  }

  /** Drops what is known of a proxy that has left. */
  forget(id: string): boolean {
    return this.#gone.delete(id);
  }

  /** Subscribes to every coming, leaving and report of a proxy. */
  subscribe(subscriber: () => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  close(): void {
    for (const end of this.#unsubscribe) end();
    this.#subscribers.clear();
  }

  #want(config: ProxyConfig): void {
    this.#wanted = config;
    this.#publishedMs = this.#options.clock.monotonicMs();
    this.#snapshots.set(config.index, config.id);
    if (this.#snapshots.size <= rememberedMax) return;
    const [oldest] = this.#snapshots.keys();
    if (oldest !== undefined) this.#snapshots.delete(oldest);
  }

  #wantedVersion(): Version | undefined {
    const config = this.#wanted;
    return config && { index: config.index, snapshotId: config.id, sha256: digestOf(config) };
  }

  #onAcknowledgement(record: ProxyRecord, word: Acknowledgement, snapshotId: string | null): void {
    const sha256 = word.sha256 === '' && word.state === 'installed' ? this.#digestAt(word.index) : word.sha256;
    const isNews = record.acknowledge({ ...word, sha256 }, snapshotId, this.#options.clock.nowMs());
    if (isNews && word.state === 'refused') {
      const { index, of, problems } = word;
      const about = { proxy: record.facts.id, of, index, problems: problems.slice(0, 3) };
      this.#options.logger.error(about, 'a proxy refuses the configuration');
    }
    this.#changed();
  }

  #digestAt(index: number): string {
    return this.#wanted?.index === index ? digestOf(this.#wanted) : '';
  }

  #changed(): void {
    this.#changes++;
    for (const subscriber of [...this.#subscribers]) subscriber();
    const wanted = this.#wanted;
    if (wanted === undefined || this.#publishedMs === undefined) return;
    const lacksIt = (record: ProxyRecord): boolean => record.progress(wanted.index) !== 'installed';
    // The proxy that was found last is checked first, so that a thousand acknowledgements do not check a thousand
    // proxies each.
    if (this.#behind?.isLive === true && lacksIt(this.#behind)) return;
    for (const record of this.#everyLive()) {
      if (!lacksIt(record)) continue;
      this.#behind = record;
      return;
    }
    this.#options.onConverged((this.#options.clock.monotonicMs() - this.#publishedMs) / 1000);
    this.#publishedMs = undefined;
  }

  *#everyLive(): Generator<ProxyRecord> {
    if (this.#own !== undefined) yield this.#own;
    yield* this.#live.records();
  }

  #count(window: readonly TrafficWindow[]): void {
    this.#tally.add(window);
    for (const { shadow } of window) if (shadow !== undefined) this.#options.onShadow?.(shadow);
  }

  #stranger(): Follower {
    this.#anonymous++;
    return { ...stranger, closed: () => void this.#anonymous-- };
  }

  /** The same process comes again before its old stream was seen to end; another of the same name is a mistake. */
  #replace(id: string, boot: string, address: string): void {
    for (const [token, { facts }] of this.#live.of(id)) {
      if (facts.boot === boot) this.#live.exit(token);
      else {
        const about = { proxy: id, addresses: [facts.address, address] };
        this.#options.logger.warn(about, 'two proxies have one id: set proxy.id of one of them to another');
      }
    }
  }

  #leave(token: string): void {
    const record = this.#live.exit(token);
    if (record === undefined) return;
    const { id } = record.facts;
    this.#options.onLeft?.(holderName(record.facts));
    if (this.#live.of(id).length === 0) {
      record.lastSeenMs = this.#options.clock.nowMs();
      this.#gone.delete(id);
      this.#gone.set(id, record);
    }
    this.#changed();
  }

  #forgetOld(): void {
    const since = this.#options.clock.nowMs() - goneMs;
    for (const [id, { lastSeenMs }] of this.#gone) {
      if (lastSeenMs >= since && this.#gone.size <= goneMax) break;
      this.#gone.delete(id);
    }
  }
}

const holderName = ({ id, boot }: Pick<ProxyFacts, 'id' | 'boot'>): string => `${id} ${boot}`;
