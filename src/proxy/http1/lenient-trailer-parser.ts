// Parser of trailers from an upstream that is allowed non-standard forms.

import { HeadNormalizer } from './head-normalizer.ts';
import type { HeadStatus } from './head-parser.ts';
import type { Lenience } from './lenience.ts';
import { TrailerParser } from './trailer-parser.ts';

export class LenientTrailerParser extends TrailerParser {
  readonly #normalizer: HeadNormalizer;
  readonly #strict = (normal: Buffer): HeadStatus => super.parse(normal, 0, normal.length);

  constructor(lenience: Lenience) {
    super();
    this.#normalizer = new HeadNormalizer(lenience, false);
  }

  override parse(bytes: Buffer, from: number, to: number): HeadStatus {
    const status = this.#normalizer.parse(bytes, from, to, this.limits, this.#strict);
    if (status === 'done') this.end = from + this.#normalizer.consumed;
    return status;
  }
}
