// One configuration as a thread serves it: its table, its destinations, its places in shared memory. A thread has a
// stable one, and at times a candidate that is tried out beside it (fleet.md §7).
import type { Candidate, ProxyConfig } from '../../model/proxy-config.ts';
import type { Memory } from '../compile/compile.ts';
import type { Installed } from '../exchange/context.ts';
import { keyOf, placeOf } from '../listener/listeners.ts';
import { ClientShare } from '../match/client-share.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { BucketBlocks } from '../shared/bucket-allocator.ts';
import type { ConfigRole } from '../shared/figures.ts';
import { ShareCell } from '../shared/share-cell.ts';
import type { UpstreamRows, UpstreamStates } from '../shared/upstream-states.ts';
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
export interface Choice {
  readonly rollout: string;
  readonly key: Candidate['key'];
  /** Memory of a ShareCell. */
  readonly share: SharedArrayBuffer;
}

export interface Side extends Installed {
  isOver?: boolean;
  readonly config: ProxyConfig;
  readonly memory: Memory;
  readonly states: UpstreamStates;
  /** Key by destination id, see RowsWanted. */
  readonly keys: ReadonlyMap<string, string>;
  readonly discovered: Map<string, readonly FoundAddress[]>;
  /** Places of its listeners: `address:port`. */
  readonly places: ReadonlySet<string>;
}

export const placesOf = ({ snapshot }: ProxyConfig, bindAddress: string | undefined): ReadonlySet<string> =>
  new Set(snapshot.listeners.map((listener) => keyOf(placeOf(listener, bindAddress))));

/** Returns the variant as stable or as candidate, under the index of the activation that made it so. */
export const inRole = (side: Side, role: ConfigRole, index: number): Side => ({
  ...side,
  role,
  config: { ...side.config, index },
  snapshot: { ...side.snapshot, index },
});

/** A candidate with the selection of its clients. */
export class Trial {
  readonly side: Side;
  readonly choice: Choice;
  readonly #cell: ShareCell;
  readonly #clients: ClientShare;

  constructor(side: Side, choice: Choice) {
    this.side = side;
    this.choice = choice;
    this.#cell = new ShareCell(choice.share);
    this.#clients = new ClientShare(choice.rollout, choice.key, this.#cell);
  }

  /** True while the candidate serves clients here. */
  get isServed(): boolean {
    return this.#cell.fraction > 0;
  }

  /**
   * Returns the variant that serves a request from the listener at `place`. A listener that only one of the two has
   * serves that one.
   */
  of(request: RoutedRequest, place: string, stable: Side): Installed {
    if (!this.side.places.has(place)) return stable;
    if (!stable.places.has(place)) return this.isServed ? this.side : stable;
    return this.#clients.has(request) ? this.side : stable;
  }
}
