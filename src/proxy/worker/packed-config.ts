// A configuration as main posts it to its workers (architecture.md §2): the entities are shared bytes, so that a worker can
// read them a few at a time and skip those it has read before.
import { configKinds, perKind } from '../../model/kinds.ts';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { BucketBlocks } from '../shared/bucket-allocator.ts';
import type { ConfigRole } from '../shared/figures.ts';
import type { UpstreamRows } from '../shared/upstream-states.ts';
import type { Discovered } from '../upstream/upstreams.ts';
import { EntityUnpacker, type PackedEntities } from './packed-entities.ts';

/** What can be posted to a worker without copying the configuration. */
export interface PackedConfig {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  /** Where the workers find what they know together of its destinations. */
  readonly rows: UpstreamRows;
  readonly discovered: Discovered;
  /** What rate limits count in, by id of the middleware. */
  readonly blocks: BucketBlocks;
  readonly entities: PackedEntities;
}

/** Reads configurations and remembers the entities of the last one, and of the last one that was tried out beside it. */
export class ConfigReader {
  readonly #rest: () => Promise<void>;
  #known: Readonly<Record<ConfigRole, ReadonlyMap<string, Parsed>>> = { stable: new Map(), candidate: new Map() };

  /** `rest` lets the thread serve what waits; it is awaited after each slice of work. */
  constructor(rest: () => Promise<void>) {
    this.#rest = rest;
  }

  async read(packed: PackedConfig, role: ConfigRole = 'stable'): Promise<ProxyConfig> {
    const { index, id, name, createdAt } = packed;
    const { stable, candidate } = this.#known;
    const known = new Map<string, Parsed>();
    const lists = perKind<Parsed[]>(() => []);
    const entities = new EntityUnpacker(packed.entities);
    let sliceEnd = performance.now() + sliceMs;
    let at = 0;
    for (const kind of configKinds) {
      for (const end = at + packed.entities.counts[kind]; at < end; at++) {
        const hash = entities.hash(at);
        const value = stable.get(hash) ?? candidate.get(hash) ?? parse(entities.text(at));
        known.set(hash, value);
        lists[kind].push(value);
        if (at % stride !== 0 || performance.now() < sliceEnd) continue;
        await this.#rest();
        sliceEnd = performance.now() + sliceMs;
      }
    }
    this.#known = { ...this.#known, [role]: known };
    return { index, id, name, createdAt, snapshot: lists };
  }

  /** The candidate takes the place of the other. */
  promote(): void {
    this.#known = { stable: this.#known.candidate, candidate: new Map() };
  }

  withdraw(): void {
    this.#known = { ...this.#known, candidate: new Map() };
  }
}

/** How long a worker reads before it serves what has come meanwhile. */
const sliceMs = 4;

/** Entities between two looks at the clock. */
const stride = 16;

/** What main checked before it packed it. */
type Parsed = ReturnType<typeof JSON.parse>;

const parse = (text: string): Parsed => JSON.parse(text);
