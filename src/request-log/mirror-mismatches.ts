// Mismatches between primaries and their mirrors, for the API and the admin port of a proxy: of this process, and of the other
// nodes where there are any.
import type { MirrorMismatch } from '../model/answers/request-answers.ts';
import type { MismatchSource, NodeMismatches } from '../model/mirror-mismatch.ts';
import { limitOf } from './request-query.ts';

export interface MirrorMismatchesOptions {
  /** Name of this node, or of this proxy. */
  readonly node: string;
  readonly source: MismatchSource;
  /** Asks each of the other nodes for at most so many. Default: there are none. */
  readonly others?: (limit: number) => Promise<readonly NodeMismatches[]>;
}

export interface ListedMismatches {
  /** JSON, newest first. */
  readonly body: string;
  /** Names of the nodes that did not answer. */
  readonly unreachable: readonly string[];
}

export class MirrorMismatches {
  readonly #options: MirrorMismatchesOptions;

  constructor(options: MirrorMismatchesOptions) {
    this.#options = options;
  }

  /** Rejects with INVALID. */
  async list(limit: string | undefined): Promise<ListedMismatches> {
    const { node, source, others } = this.#options;
    const most = limitOf(limit);
    const lists = [{ node, mismatches: source.list(most) }, ...((await others?.(most)) ?? [])];
    const all = lists.flatMap(({ node, mismatches = [] }) =>
      mismatches.map((each): MirrorMismatch => ({ node, ...each })),
    );
    const newest = all.sort(({ time: one }, { time: other }) => (one < other ? 1 : one > other ? -1 : 0));
    const unreachable = lists.flatMap(({ node, mismatches }) => (mismatches === undefined ? [node] : []));
    return { body: JSON.stringify(newest.slice(0, most)), unreachable: unreachable.sort() };
  }
}
