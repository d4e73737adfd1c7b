// Memory of decoders of one worker, bounded: a body of a few bytes can make a decoder hold megabytes, and a slow client
// makes it hold them for long. What a decoder holds grows with what it has produced, up to its window.

import { codings } from './coder.ts';

/** Bytes of a decoder that has produced nothing. */
const leastBytes = 64 * 1024;
/** Bytes of the largest decoder: with less, one worker of many would never decode some bodies. */
const largestBytes = leastBytes + Math.max(...Object.values(codings).map(({ decoderBytesMax }) => decoderBytesMax));

/** Returns the memory of the decoders of one worker, of its share of that of the process: one decoder at least. */
export const decoderMemoryOf = (shareBytes: number): DecoderMemory =>
  new DecoderMemory(Math.max(largestBytes, shareBytes));

export class DecoderMemory {
  #free: number;

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** Memory for one decoder; undefined when there is none. */
  take(windowMax: number): HeldMemory | undefined {
    return this.#take(leastBytes) ? new HeldMemory(windowMax, (bytes) => this.#take(bytes)) : undefined;
  }

  #take(bytes: number): boolean {
    if (bytes > this.#free) return false;
    this.#free -= bytes;
    return true;
  }
}

export class HeldMemory {
  readonly #windowMax: number;
  readonly #take: (bytes: number) => boolean;
  #window = 0;
  #isHeld = true;

  constructor(windowMax: number, take: (bytes: number) => boolean) {
    this.#windowMax = windowMax;
    this.#take = take;
  }

  /** Counts bytes that the decoder has produced; returns false when there is no memory for a window of them. */
  grow(bytes: number): boolean {
    const more = Math.min(bytes, this.#windowMax - this.#window);
    if (more > 0 && !this.#take(more)) return false;
    this.#window += more;
    return true;
  }

  /** Gives all of it back, once. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#take(-(leastBytes + this.#window));
  }
}
