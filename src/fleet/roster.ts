// Roster of the proxies of the cluster, as their nodes told them last (fleet.md §5, §6): for as long as a node is not heard,
// its proxies count as unheard and not as gone. Kept in memory.
import type { ProxyView } from '../model/answers/fleet-answers.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import type { RosterAnswer } from './fleet-view.ts';
import type { FleetPeer } from './peer-requests.ts';

export interface RosterOptions {
  readonly peers: () => Promise<readonly FleetPeer[]>;
  /** Ids of the live proxies of this node. */
  readonly own: () => ReadonlySet<string>;
  /** Called when another node tells of other proxies than before. Default: nothing. */
  readonly onChange?: () => void;
  readonly clock: Clock;
}

interface RosterEntry {
  readonly view: ProxyView;
  readonly life: string;
  heardMs: number;
}

const lookMs = 2_000;
const askMs = 1_000;
const keptMs = 24 * 3_600_000;
const keptMax = 10_000;

export class Roster {
  readonly #options: RosterOptions;
  /** By id of the proxy. */
  readonly #entries = new Map<string, RosterEntry>();
  readonly #known = new Map<string, { readonly life: string; readonly version: number }>();
  #cancel: Cancel = () => undefined;
  #ended = false;

  constructor(options: RosterOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#ended) return;
    this.#cancel = this.#options.clock.after(lookMs, () => {
      void this.look().finally(() => this.start());
    });
  }

  close(): void {
    this.#ended = true;
    this.#cancel();
  }

  /** Asks every other member once. */
  async look(): Promise<void> {
    const peers = await this.#options.peers().catch(() => []);
    await Promise.all(peers.map((peer) => this.#ask(peer)));
    this.#forgetOld();
  }

  /**
   * Proxies that are on no live list.
   * @param answering nodes that answer at the moment, with the process that does where that is known
   * @param live ids that are heard elsewhere
   */
  unheard(answering: ReadonlyMap<string, string | undefined>, live: ReadonlySet<string>): readonly ProxyView[] {
    const own = this.#options.own();
    const views: ProxyView[] = [];
    for (const [id, { view, life, heardMs }] of this.#entries) {
      const process = answering.get(view.node) ?? this.#known.get(view.node)?.life;
      const isCurrent = answering.has(view.node) && process === life;
      if (isCurrent || own.has(id) || live.has(id)) continue;
      views.push({ ...view, state: 'disconnected', lastSeen: new Date(heardMs).toISOString() });
    }
    return views;
  }

  forget(id: string): boolean {
    return this.#entries.delete(id);
  }

  async #ask(peer: FleetPeer): Promise<void> {
    const { nodeId } = peer;
    const known = this.#known.get(nodeId);
    const answer = await peer.ask({ op: 'roster', ...(known ?? { life: '', version: 0 }) }, askMs);
    if (!isRoster(answer)) return;
    this.#known.set(nodeId, { life: answer.life, version: answer.version });
    this.#take(nodeId, answer);
  }

  /** A proxy that its node misses has left by itself; a new process of the node knows nothing of those before it. */
  #take(node: string, { life, proxies }: RosterAnswer): void {
    const nowMs = this.#options.clock.nowMs();
    const ids = proxies && new Set(proxies.map(({ id }) => id));
    for (const [id, entry] of this.#entries) {
      if (entry.view.node !== node || entry.life !== life) continue;
      if (ids !== undefined && !ids.has(id)) this.#entries.delete(id);
      else entry.heardMs = nowMs;
    }
    for (const view of proxies ?? []) {
      this.#entries.delete(view.id);
      this.#entries.set(view.id, { view, life, heardMs: nowMs });
    }
    if (proxies !== undefined) this.#options.onChange?.();
  }

  #forgetOld(): void {
    const own = this.#options.own();
    const since = this.#options.clock.nowMs() - keptMs;
    for (const [id, { heardMs }] of this.#entries) {
      if (own.has(id) || heardMs < since || this.#entries.size > keptMax) this.#entries.delete(id);
    }
  }
}

const isRoster = (value: unknown): value is RosterAnswer =>
  typeof value === 'object' &&
  value !== null &&
  'life' in value &&
  typeof value.life === 'string' &&
  'version' in value &&
  typeof value.version === 'number' &&
  (!('proxies' in value) || (Array.isArray(value.proxies) && value.proxies.every(isView)));

const isView = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' && 'node' in value;
