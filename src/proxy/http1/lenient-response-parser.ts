// Parser of response heads from an upstream that is allowed non-standard forms.

import { HeadNormalizer } from './head-normalizer.ts';
import type { HeadLimits, HeadStatus } from './head-parser.ts';
import type { Lenience } from './lenience.ts';
import { ResponseParser } from './response-parser.ts';

export class LenientResponseParser extends ResponseParser {
  readonly #normalizer: HeadNormalizer;
  readonly #strict = (normal: Buffer): HeadStatus => super.parse(normal, 0, normal.length);

  constructor(limits: HeadLimits, lenience: Lenience) {
    super(limits);
    this.#normalizer = new HeadNormalizer(lenience, true);
  }

  override reset(): void {
    super.reset();
    this.#normalizer.reset();
  }

  override parse(bytes: Buffer, from: number, to: number): HeadStatus {
    const status = this.#normalizer.parse(bytes, from, to, this.limits, this.#strict);
    if (status === 'done') this.end = from + this.#normalizer.consumed;
    return status;
  }
}
