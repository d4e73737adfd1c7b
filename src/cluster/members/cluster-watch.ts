// Watch of a node over its place in the cluster: tells elections, leaders and members in the log, and whether proxies
// should follow another node. Says why this node takes no writes while it has no leader or was removed.
import { type Config, emptyConfig, identityOf, type MemberId, type RoleReport } from '../../../raft/index.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { Cluster } from './cluster.ts';
import { memberChanges } from './member-changes.ts';
import { noQuorumText } from './quorum-text.ts';

export interface ClusterWatchOptions {
  readonly cluster: Pick<Cluster, 'clustered' | 'status'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Two election timeouts, each of at most two seconds. */
const cutOffMs = 4_000;
const warnMs = 5_000;
const repeatMs = 60_000;
const lookMs = 1_000;

export class ClusterWatch {
  readonly #options: ClusterWatchOptions;
  readonly #subscribers = new Set<() => void>();
  /** Callers who asked for a change of these members. */
  readonly #authors = new Map<MemberId, string>();
  #config: Config = emptyConfig;
  /** Undefined while this node knows no leader. */
  #standing: string | undefined;
  #campaign: string | undefined;
  /** Monotonic; undefined while there is a leader. */
  #lostMs: number | undefined;
  #warnedMs: number | undefined;
  #isCutOff = false;
  #quorum: string | undefined;
  #removed: string | undefined;
  #cancel: Cancel = () => undefined;
  #ended = false;

  constructor(options: ClusterWatchOptions) {
    this.#options = options;
    if (options.cluster.clustered) this.#lose();
  }

  /** Reason for proxies to follow another node; undefined while this one serves them. */
  get refusal(): string | undefined {
    return this.#removed ?? (this.#isCutOff ? (this.why ?? noLeader) : undefined);
  }

  /** Reason why this node is no member of its cluster any more. */
  get removal(): string | undefined {
    return this.#removed;
  }

  /** Reason why this node takes no writes: it was removed, or knows no leader. */
  get why(): string | undefined {
    if (this.#removed !== undefined) return this.#removed;
    if (this.#lostMs === undefined) return undefined;
    return this.#quorum ?? `no leader for ${this.#leaderlessSeconds} s`;
  }

  /** Calls `subscriber` when `refusal` begins or ends. Returns the end of the subscription. */
  subscribe(subscriber: () => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Names the caller in the line about the next change of that member; undefined: it came to nothing. */
  attribute(id: MemberId, by: string | undefined): void {
    if (by === undefined || by === '') this.#authors.delete(id);
    else this.#authors.set(id, by);
  }

  /** Raft has another role, leader or configuration. */
  heard({ role, term, leader, config }: RoleReport): void {
    if (!this.#options.cluster.clustered || this.#ended) return;
    this.#tellMembers(config);
    if (role === 'leader') this.#stand(`leads in term ${term}`);
    else if (leader !== undefined) this.#stand(`follows ${identityOf(leader.id).nodeId} in term ${term}`);
    else this.#lose();
    const campaign = role === 'candidate' ? `asks for votes in term ${term}` : undefined;
    if (campaign !== undefined && campaign !== this.#campaign) this.#tell(campaign);
    this.#campaign = campaign;
  }

  /** This node is no member any more. */
  removed(reason: string): void {
    if (this.#removed !== undefined || this.#ended) return;
    this.#removed = reason;
    this.#cancel();
    this.#complain(reason);
    this.#changed();
  }

  close(): void {
    this.#ended = true;
    this.#cancel();
    this.#subscribers.clear();
  }

  #stand(standing: string): void {
    if (this.#standing !== standing) this.#tell(standing);
    this.#standing = standing;
    if (this.#removed !== undefined) return;
    this.#cancel();
    this.#lostMs = undefined;
    this.#warnedMs = undefined;
    this.#quorum = undefined;
    if (!this.#isCutOff) return;
    this.#isCutOff = false;
    this.#changed();
  }

  #lose(): void {
    if (this.#standing !== undefined) this.#tell(`${this.#standing} no more`);
    this.#standing = undefined;
    if (this.#lostMs !== undefined || this.#removed !== undefined) return;
    this.#lostMs = this.#options.clock.monotonicMs();
    this.#look();
  }

  #look(): void {
    this.#cancel = this.#options.clock.after(lookMs, () => this.#look());
    const leaderlessMs = this.#leaderlessMs;
    void this.#askWhoIsUnheard();
    if (leaderlessMs >= cutOffMs && !this.#isCutOff) {
      this.#isCutOff = true;
      this.#changed();
    }
    if (leaderlessMs < warnMs || (this.#warnedMs !== undefined && leaderlessMs - this.#warnedMs < repeatMs)) return;
    this.#warnedMs = leaderlessMs;
    const text = `cluster: no leader for ${this.#leaderlessSeconds} s, writes are refused`;
    this.#options.logger.warn(this.#quorum === undefined ? {} : { reason: this.#quorum }, text);
  }

  async #askWhoIsUnheard(): Promise<void> {
    const status = await this.#options.cluster.status().catch(() => undefined);
    if (this.#lostMs !== undefined) this.#quorum = status && noQuorumText(status, this.#leaderlessMs);
  }

  get #leaderlessMs(): number {
    return this.#lostMs === undefined ? 0 : this.#options.clock.monotonicMs() - this.#lostMs;
  }

  get #leaderlessSeconds(): number {
    return Math.round(this.#leaderlessMs / 1000);
  }

  /** Once a minute for as long as the process lasts. */
  #complain(reason: string): void {
    this.#cancel = this.#options.clock.after(repeatMs, () => this.#complain(reason));
    this.#options.logger.error({}, `cluster: ${reason}`);
  }

  /** A joint configuration is a passage; what came of it is told when it is left. */
  #tellMembers(config: Config): void {
    if (config.outgoing.length > 0) return;
    for (const { id, text } of memberChanges(this.#config, config)) {
      const by = this.#authors.get(id);
      this.#authors.delete(id);
      const author = by === undefined ? '' : `${text.includes(' by ') ? ',' : ''} by ${by}`;
      this.#tell(`${text}${author}`);
    }
    this.#config = config;
  }

  #tell(text: string): void {
    this.#options.logger.info({}, `cluster: ${text}`);
  }

  #changed(): void {
    for (const subscriber of [...this.#subscribers]) subscriber();
  }
}

const noLeader = 'this node knows no leader';
