// Convergence, whether enough proxies have an activation (fleet.md §6): pure, from the reports of the nodes at one
// moment.

import { SluiceError } from '../errors.ts';
import type { Convergence, ProxyView, UnheardProxy } from '../model/answers/fleet-answers.ts';
import { wantPattern } from '../model/pattern.ts';
import type { NodeProgress } from './fleet.ts';
import type { Progress } from './proxy-record.ts';

/** Count of proxies that must have it. */
export type Want = { readonly is: 'all' } | { readonly is: 'count' | 'percent'; readonly amount: number };

const wantForm = new RegExp(wantPattern);

/** Values of `?wait=`, for messages. */
export const wantText = 'all, a number of proxies such as 12, or a share such as 90%';

/** `all`, `12`, `90%`. Throws INVALID for anything else. */
export function wantOf(text: string): Want {
  if (text === 'all') return { is: 'all' };
  if (wantForm.test(text)) return { is: text.endsWith('%') ? 'percent' : 'count', amount: Number.parseFloat(text) };
  throw new SluiceError('INVALID', `wait must be ${wantText}`);
}

type Each = NodeProgress['proxies'][number];

/** Progress of activations that are waited for. */
export class Convergences {
  readonly #want: Want;
  /** Latest report of each node. */
  readonly #nodes = new Map<string, readonly Each[]>();
  readonly #lives = new Map<string, string | undefined>();
  readonly #seen = new Set<string>();
  #unheard: readonly UnheardProxy[] = [];

  constructor(want: Want) {
    this.#want = want;
  }

  heard(node: string, { proxies, life }: NodeProgress): void {
    this.#lives.set(node, life);
    this.#nodes.set(node, proxies);
    for (const { id } of proxies) this.#seen.add(id);
  }

  /** A node that never answers has a proxy at least, its own. */
  unheard(node: string): void {
    if (this.#nodes.has(node)) return;
    this.#nodes.set(node, [{ id: node, state: 'pending', problems: [] }]);
    this.#seen.add(node);
  }

  /** Proxies of the cluster that no node hears at the moment: any of them may still serve what was active before. */
  unheardProxies(views: readonly ProxyView[]): void {
    this.#unheard = views.map(({ id, node, lastSeen }) => ({ proxy: id, node, lastSeen }));
  }

  /** Nodes that have answered, with their processes. */
  lives(): ReadonlyMap<string, string | undefined> {
    return this.#lives;
  }

  /** Ids that are on a list of a node. */
  live(): ReadonlySet<string> {
    return new Set([...this.#nodes.values()].flatMap((proxies) => proxies.map(({ id }) => id)));
  }

  /** Count of known proxies. */
  get size(): number {
    return this.#seen.size;
  }

  get isOver(): boolean {
    const { wanted, installed, refused } = this.result(0);
    return refused > 0 || installed >= wanted;
  }

  /** One that was there and is not any more is pending: it may come back without it. */
  result(tookMs: number): Convergence {
    const live = [...this.#nodes.values()].flat();
    const liveIds = new Set(live.map(({ id }) => id));
    const unheard = this.#unheard.filter(({ proxy }) => !liveIds.has(proxy));
    const gone = new Set([...this.#seen, ...unheard.map(({ proxy }) => proxy)]);
    const left = [...gone].filter((id) => !liveIds.has(id));
    const of = (state: Progress): Each[] => live.filter((proxy) => proxy.state === state);
    const pending = [...of('pending').map(({ id }) => id), ...left].sort();
    const refused = of('refused');
    return {
      wanted: this.#wanted(live.length + left.length),
      installed: of('installed').length,
      refused: refused.length,
      pending: pending.length,
      pendingProxies: pending,
      unheard,
      tookMs: Math.round(tookMs),
      refusals: refused.map(({ id, problems }) => ({ proxy: id, problems })),
    };
  }

  #wanted(total: number): number {
    if (this.#want.is === 'all') return total;
    return this.#want.is === 'count'
      ? this.#want.amount
      : Math.max(0, Math.ceil((total * this.#want.amount) / 100 - 1e-9));
  }
}
