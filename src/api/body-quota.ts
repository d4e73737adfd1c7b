// Quota of bytes for request bodies that together could fill the memory: those of members before their proof is
// verified, since a client that does not send the digest ahead may be a stranger, and those of large batches.
import { SluiceError } from '../errors.ts';

/** Used part of a request. */
interface BodyBearer {
  readonly headers: { readonly 'content-length'?: string | undefined };
}

/** Request or response. */
interface Closing {
  /** `close`: the bytes are not needed any more. */
  once(event: 'close', listener: () => void): unknown;
}

export class BodyQuota {
  readonly #bytesMax: number;
  readonly #error: string;
  #bytes = 0;

  /** @param error message of a refusal */
  constructor(bytesMax: number, error: string) {
    this.#bytesMax = bytesMax;
    this.#error = error;
  }

  /**
   * Reserves bytes for a body until `until` closes; `limit` for a body without a length. Throws UNAVAILABLE; nothing was
   * applied then.
   */
  hold({ headers }: BodyBearer, limit: number, until: Closing): void {
    const bytes = Math.min(Number(headers['content-length'] ?? limit) || 0, limit);
    if (this.#bytes + bytes > this.#bytesMax) {
      const body = { outcome: 'not-applied' };
      throw new SluiceError('UNAVAILABLE', this.#error, { body, headers: { Connection: 'close' } });
    }
    this.#bytes += bytes;
    until.once('close', () => {
      this.#bytes -= bytes;
    });
  }
}
