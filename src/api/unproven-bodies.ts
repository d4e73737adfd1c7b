// Bodies of requests from members of the cluster. Who sent one is proven by a signature over the body, so anybody can make
// this node read it: what of them is held at a time is bounded, or strangers would fill the memory.
import { SluiceError } from '../errors.ts';

/** The part of a request that matters here. */
export interface BodyBearer {
  readonly headers: { readonly 'content-length'?: string | undefined };
  /** `close`: the body has been read, or never will be. */
  once(event: 'close', listener: () => void): unknown;
}

/** Six of the largest. Members send few at a time: the leader takes them one after the other. */
const heldBytesMax = 256 * 1024 * 1024;

export class UnprovenBodies {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = heldBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** `limit`: bytes that are read of a body whose length nobody has said. Throws UNAVAILABLE; nothing was applied then. */
  hold(request: BodyBearer, limit: number): void {
    const bytes = Math.min(Number(request.headers['content-length'] ?? limit) || 0, limit);
    if (this.#bytes + bytes > this.#bytesMax) {
      const body = { outcome: 'not-applied' };
      throw new SluiceError('UNAVAILABLE', 'too many bodies of members at once', {
        body,
        headers: { Connection: 'close' },
      });
    }
    this.#bytes += bytes;
    request.once('close', () => {
      this.#bytes -= bytes;
    });
  }
}
