// One configuration as a thread serves it: its table, its destinations, its places in shared memory. A thread has a
// stable one, and at times a candidate that is tried out beside it (fleet.md §7).
import type { Candidate, ProxyConfig } from '../../model/proxy-config.ts';
import type { Memory } from '../compile/compile.ts';
import type { Installed } from '../exchange/exchange-context.ts';
import { keyOf, placeOf } from '../listener/listeners.ts';
import { ClientShare } from '../match/client-share.ts';
import type { RoutingTable } from '../match/routing-table.ts';
import { ServedListeners } from '../match/served-listeners.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import { CandidateShadow, type ShadowTools } from '../shadow/candidate-shadow.ts';
import type { BucketBlocks } from '../shared/bucket-allocator.ts';
import type { ConfigRole } from '../shared/figures.ts';
import { ShareCell } from '../shared/share-cell.ts';
import type { UpstreamRows, UpstreamStates } from '../shared/upstream-states.ts';
import type { StreamTable } from '../stream/stream-route-table.ts';
import type { FoundAddress } from '../upstream/endpoint-address.ts';
import type { Discovered } from '../upstream/upstreams.ts';

/** A configuration with what main has given out for it. */
export interface Source {
  readonly config: ProxyConfig;
  readonly rows: UpstreamRows;
  readonly discovered: Discovered;
  readonly blocks: BucketBlocks;
}

/** Selection of the clients that a candidate serves. */
export interface Split {
  readonly rollout: string;
  readonly key: Candidate['key'];
  /** Memory of a ShareCell. */
  readonly share: SharedArrayBuffer;
}

export interface Variant extends Installed {
  readonly table: RoutingTable;
  readonly streams: StreamTable;
  isOver?: boolean;
  readonly config: ProxyConfig;
  readonly memory: Memory;
  readonly states: UpstreamStates;
  /** Key by destination id, see RowsWanted. */
  readonly keys: ReadonlyMap<string, string>;
  readonly discovered: Map<string, readonly FoundAddress[]>;
  readonly listeners: ServedListeners;
}

export const listenersOf = ({ snapshot }: ProxyConfig, bindAddress: string | undefined): ServedListeners =>
  new ServedListeners(snapshot.listeners, (listener) => keyOf(placeOf(listener, bindAddress)));

/** Returns the variant as stable or as candidate, under the index of the activation that made it so. */
export const inRole = (variant: Variant, role: ConfigRole, index: number): Variant => ({
  ...variant,
  role,
  config: { ...variant.config, index },
  snapshot: { ...variant.snapshot, index },
});

/** A candidate with the selection of its clients. */
export class CandidateVariant {
  readonly variant: Variant;
  readonly split: Split;
  readonly #cell: ShareCell;
  readonly #clients: ClientShare;
  readonly #tools: ShadowTools;
  /** Stable with the comparison, and the stable that it was made of. */
  #shadowed: Variant | undefined;
  #shadowedOf: Variant | undefined;

  constructor(variant: Variant, split: Split, tools: ShadowTools) {
    this.variant = variant;
    this.split = split;
    this.#cell = new ShareCell(split.share);
    this.#clients = new ClientShare(split.rollout, split.key, this.#cell);
    this.#tools = tools;
  }

  /** True while the candidate serves clients here. */
  get isServed(): boolean {
    return this.#cell.fraction > 0;
  }

  /**
   * Returns the variant that serves a request or a connection from the listener at `place`. A listener that only one
   * of the two has serves that one.
   */
  of(request: Pick<RoutedRequest, 'clientIp' | 'header'>, place: string, stable: Variant): Variant {
    if (!this.variant.listeners.has(place)) return this.#compared(stable);
    if (!stable.listeners.has(place)) return this.isServed ? this.variant : stable;
    return this.#clients.has(request) ? this.variant : this.#compared(stable);
  }

  /** Stable, with the comparison while there is one. */
  #compared(stable: Variant): Variant {
    if (this.#cell.shadowSample === 0) return stable;
    if (this.#shadowed === undefined || this.#shadowedOf !== stable) {
      const { variant, split } = this;
      const { table, listeners, consumers } = variant;
      const candidate = { rollout: split.rollout, table, listeners, consumers, isOver: () => variant.isOver === true };
      this.#shadowed = { ...stable, shadow: new CandidateShadow(candidate, stable, this.#cell, this.#tools) };
      this.#shadowedOf = stable;
    }
    return this.#shadowed;
  }
}
