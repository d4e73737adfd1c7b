// Rollout watch: while a rollout is under way a node asks the others for the reports of their proxies (fleet.md §7).
// The leader judges by them, and where proxies are chosen whole every node has to know them all. A node without
// contact to its cluster for the dead man's time gives no client the candidate until contact is back.

import type { RolloutReport } from '../model/fleet-messages.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import type { CandidateShares } from './candidate-shares.ts';
import type { Fleet } from './fleet.ts';
import type { FleetPeer } from './peer-requests.ts';

export interface RolloutWatchOptions {
  readonly nodeId: string;
  readonly fleet: Pick<Fleet, 'rolloutWord'>;
  readonly shares: CandidateShares;
  readonly peers: () => Promise<readonly FleetPeer[]>;
  /** Standing of this node in its cluster. */
  readonly cluster: { readonly leads: boolean; readonly hasLeader: boolean };
  readonly clock: Clock;
}

const lookMs = 250;
const askMs = 1_000;

export class RolloutWatch {
  readonly #options: RolloutWatchOptions;
  readonly #reports = new Map<string, RolloutReport>();
  readonly #asking = new Set<string>();
  readonly #unsubscribe: () => void;
  #cancel: Cancel | undefined;
  #contactMs: number;
  /** False until the cluster was in contact: a rollout known from before the start may have ended long since. */
  #isCurrent = false;
  #closed = false;

  constructor(options: RolloutWatchOptions) {
    this.#options = options;
    this.#contactMs = options.clock.monotonicMs();
    this.#unsubscribe = options.shares.subscribe(() => this.#begin());
    this.#begin();
  }

  /** Returns the latest report of each node on the rollout under way, that of this node as of now. */
  words(): ReadonlyMap<string, RolloutReport> {
    const { nodeId, fleet } = this.#options;
    return new Map([...this.#reports, [nodeId, fleet.rolloutWord()]]);
  }

  /** This node shows what was agreed on before it started. */
  caughtUp(): void {
    this.#isCurrent = true;
    this.#hold();
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
    this.#unsubscribe();
  }

  #begin(): void {
    const { shares, clock } = this.#options;
    if (this.#cancel !== undefined || this.#closed || shares.news.candidate === undefined) return;
    this.#reports.clear();
    this.#contactMs = clock.monotonicMs();
    // Set before anything else: the next calls may inform this object of changes.
    this.#cancel = () => {};
    this.#look();
  }

  #look(): void {
    const { shares, cluster, clock } = this.#options;
    const { candidate } = shares.news;
    if (candidate === undefined || this.#closed) {
      this.#cancel = undefined;
      shares.hold(undefined);
      return;
    }
    this.#cancel = clock.after(lookMs, () => this.#look());
    if (cluster.hasLeader) this.#contactMs = clock.monotonicMs();
    this.#hold();
    if (cluster.leads || candidate.by === 'proxy') void this.#askAll();
    this.#choose();
  }

  #hold(): void {
    const { shares, clock } = this.#options;
    const { candidate } = shares.news;
    if (candidate === undefined) return;
    const isCutOff = clock.monotonicMs() - this.#contactMs >= candidate.deadmanMs;
    shares.hold(isCutOff ? 'cut off' : this.#isCurrent ? undefined : 'behind');
  }

  async #askAll(): Promise<void> {
    // A node that stops has no peers.
    const peers = await this.#options.peers().catch(() => []);
    const names = new Set(peers.map(({ nodeId }) => nodeId));
    for (const node of this.#reports.keys()) if (!names.has(node)) this.#reports.delete(node);
    await Promise.all(peers.map((peer) => this.#ask(peer)));
  }

  async #ask(peer: FleetPeer): Promise<void> {
    const { nodeId } = peer;
    if (this.#asking.has(nodeId)) return;
    this.#asking.add(nodeId);
    const answer = await peer.ask({ op: 'rollout' }, askMs);
    this.#asking.delete(nodeId);
    if (!isReport(answer) || this.#cancel === undefined) return;
    this.#reports.set(nodeId, answer);
  }

  #choose(): void {
    const { shares } = this.#options;
    if (shares.news.candidate?.by !== 'proxy') return;
    shares.connected([...this.words().values()].flatMap(({ proxies }) => proxies.map(({ id }) => id)));
  }
}

// Nodes of one cluster trust each other's reports; only their shape is checked, for a newer program may send more.
const isReport = (value: unknown): value is RolloutReport =>
  isObject(value) &&
  typeof value.life === 'string' &&
  isObject(value.candidate) &&
  isObject(value.stable) &&
  Array.isArray(value.proxies) &&
  value.proxies.every(isObject);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
