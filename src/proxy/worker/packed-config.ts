// A configuration as main posts it to its workers (architecture.md §2): what changes one that they have into it, so that a
// change of one route is one route to post, to read and to compile.
import type { Configuration, ProxyConfig } from '../../model/proxy-config.ts';
import { inSlices } from '../compile-slices.ts';
import type { BucketBlocks } from '../shared/bucket-allocator.ts';
import type { UpstreamRows } from '../shared/upstream-states.ts';
import type { Discovered } from '../upstream/upstreams.ts';
import { emptyConfiguration, type PackedEdits, unpackEdits } from './packed-edits.ts';

/** Configuration in a form that is posted to a worker without copying its entities. */
export interface PackedConfig {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  /** Rows of shared memory with the state of its destinations, common to all workers. */
  readonly rows: UpstreamRows;
  readonly discovered: Discovered;
  /** Memory of the rate limits, by id of the middleware. */
  readonly blocks: BucketBlocks;
  /** Number that main has given it, unique in the process. */
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

/** Time slice of reading, in milliseconds; between slices the worker serves requests. */
const sliceMs = 4;
