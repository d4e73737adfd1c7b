// Configurations that every worker has: the stable one and, at times, a candidate. Packed for the workers as a change of
// what they hold already, with the state of upstreams at that moment.
import type { Configuration, ProxyConfig } from '../../model/proxy-config.ts';
import { inSlices } from '../compile-slices.ts';
import type { ConfigRole } from '../shared/figures.ts';
import type { ShareCell } from '../shared/share-cell.ts';
import type { MiddlewareState } from './middleware-state.ts';
import type { PackedConfig } from './packed-config.ts';
import { emptyConfiguration, packEdits } from './packed-edits.ts';
import type { UpstreamSupervisor } from './upstream-supervisor.ts';
import type { Split } from './variant.ts';

/** A configuration that every worker has. */
export interface Held {
  readonly configuration: Configuration;
  readonly textOf: ProxyConfig['textOf'];
  readonly head: PackedHead;
}

/**
 * Configuration without the parts that depend on the moment of packing: its edits and the state of its destinations.
 */
type PackedHead = Omit<PackedConfig, 'rows' | 'discovered' | 'base' | 'edits'>;

interface HeldCandidate extends Held {
  readonly split: Split;
  readonly share: ShareCell;
}

export class HeldConfigurations {
  stable: Held | undefined;
  candidate: HeldCandidate | undefined;
  readonly #supervisor: UpstreamSupervisor;
  readonly #middlewares: MiddlewareState;
  /** Number of the configuration that was packed last. */
  #number = 0;

  constructor(supervisor: UpstreamSupervisor, middlewares: MiddlewareState) {
    this.#supervisor = supervisor;
    this.#middlewares = middlewares;
  }

  /** All of them, the stable one first. */
  get all(): readonly Held[] {
    return [this.stable, this.candidate].filter((held) => held !== undefined);
  }

  /** Packs a configuration that is not held yet, as edits of the stable one. */
  async pack(
    role: ConfigRole,
    { index, id, name, createdAt, snapshot, textOf }: ProxyConfig,
  ): Promise<{ held: Held; packed: PackedConfig }> {
    this.#supervisor.prepare(role, snapshot.destinations);
    const blocks = this.#middlewares.blocksFor(snapshot);
    const head = { index, id, name, createdAt, number: ++this.#number, blocks };
    const held = { configuration: snapshot, textOf, head };
    return { held, packed: await this.packNow(role, held, this.stable) };
  }

  /** Packs a configuration as edits of `base`, with the rows and endpoints of this moment. */
  async packNow(role: ConfigRole, { configuration, textOf, head }: Held, base?: Held): Promise<PackedConfig> {
    const edits = await inSlices(packEdits(base?.configuration ?? emptyConfiguration, configuration, textOf));
    // Only now: endpoints may have been discovered meanwhile.
    const [rows, discovered] = [this.#supervisor.rows(role), this.#supervisor.discoveredBy(role)];
    return { ...head, rows, discovered, base: base?.head.number, edits };
  }

  /** Numbers of those that are held and of the last one packed: a later one may be packed as edits of them. */
  numbers(): readonly number[] {
    return [...this.all.map(({ head }) => head.number), this.#number];
  }
}
