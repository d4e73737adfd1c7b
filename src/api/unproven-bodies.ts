// Bodies of requests at the paths of members before their proof is verified. The proof is a signature over the digest of
// the body; a client that does not send the digest ahead may be a stranger. The bytes held for such clients are bounded, or
// strangers would fill the memory.
import { SluiceError } from '../errors.ts';

/** Used part of a request. */
export interface BodyBearer {
  readonly headers: { readonly 'content-length'?: string | undefined };
  /** `close`: the body has been read, or never will be. */
  once(event: 'close', listener: () => void): unknown;
}

/** Limit of reserved bytes, six of the largest bodies. Members send the digest and are not counted. */
const heldBytesMax = 256 * 1024 * 1024;

export class UnprovenBodies {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = heldBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Reserves bytes for a body; `limit` for one without a length. Throws UNAVAILABLE; nothing was applied then. */
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
