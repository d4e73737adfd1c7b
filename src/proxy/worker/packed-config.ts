// A configuration as main posts it to its workers (architecture.md §2): what changes one that they have into it, so that a
// change of one route is one route to post, to read and to compile.
import type { Configuration, ProxyConfig } from '../../model/proxy-config.ts';
import { inSlices } from '../compile-slices.ts';
import type { BucketBlocks } from '../shared/bucket-allocator.ts';
import type { UpstreamRows } from '../shared/upstream-states.ts';
import type { Discovered } from '../upstream/upstreams.ts';
import { emptyConfiguration, type PackedEdits, unpackEdits } from './packed-edits.ts';

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
  /** What main calls it; no two are called alike. */
  readonly number: number;
  /** Number of the configuration that the edits change; undefined: that without entities. */
  readonly base: number | undefined;
  readonly edits: PackedEdits;
}

/** Reads configurations and keeps the entities of those that later ones may change. */
export class ConfigReader {
  readonly #held = new Map<number, Configuration>();

  /** In slices. */
  async read({ index, id, name, createdAt, number, base, edits }: PackedConfig): Promise<ProxyConfig> {
    const former = base === undefined ? emptyConfiguration : this.#held.get(base);
    if (former === undefined) throw new Error(`configuration ${base}, which ${number} changes, is not here`);
    const snapshot = await inSlices(unpackEdits(former, edits), sliceMs);
    this.#held.set(number, snapshot);
    return { index, id, name, createdAt, snapshot };
  }

  /** Forgets all others. */
  retain(numbers: readonly number[]): void {
    for (const number of this.#held.keys()) if (!numbers.includes(number)) this.#held.delete(number);
  }
}

/** How long a worker reads before it serves what has come meanwhile. */
const sliceMs = 4;
