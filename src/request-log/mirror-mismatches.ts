// Mismatches between primaries and their mirrors in this process, for the API and the admin port of a proxy.
import type { MismatchSource } from '../model/mirror-mismatch.ts';
import { limitOf } from './request-query.ts';

export class MirrorMismatches {
  readonly #source: MismatchSource;

  constructor(source: MismatchSource) {
    this.#source = source;
  }

  /** JSON. Throws INVALID. */
  list(limit: string | undefined): string {
    return JSON.stringify(this.#source.list(limitOf(limit)));
  }
}
