// Encoders of one worker between two bodies: a new one takes as long as the compression of 20 KB, for the pages that it
// touches. Some are kept for each coding and level.
import type { CompressAlgorithm } from '../../../model/middleware/compress-options.ts';
import { type BodyCoder, type Coder, codings } from './coder.ts';

/** Idle encoders of one coding and level; one of gzip holds 256 KiB. */
const idleMax = 8;

export class EncoderPool {
  readonly #idle = new Map<string, Coder[]>();

  take(algorithm: CompressAlgorithm, level: number): BodyCoder {
    const { encoder, reuse } = codings[algorithm];
    if (reuse === undefined) return { coder: encoder(level), finishKind: undefined, release: () => {} };
    const key = `${algorithm} ${level}`;
    const idle = this.#idle.get(key) ?? [];
    this.#idle.set(key, idle);
    const coder = idle.pop() ?? withoutUnheardErrors(encoder(level));
    const release = (): void => {
      if (idle.length >= idleMax) {
        coder.destroy();
        return;
      }
      reuse.prepare(coder);
      idle.push(coder);
    };
    return { coder, finishKind: reuse.finishKind, release };
  }

  /** Number of encoders that wait for a body. */
  get idle(): number {
    let count = 0;
    for (const coders of this.#idle.values()) count += coders.length;
    return count;
  }
}

/** An error between two bodies has no other listener, and would end the worker. */
const withoutUnheardErrors = (coder: Coder): Coder => coder.on('error', () => {});
