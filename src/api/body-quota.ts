// Quota of bytes for request bodies that together could fill the memory: those of members before their proof is
// verified, since a client that does not send the digest ahead may be a stranger, and those of large batches.
import { SluiceError } from '../errors.ts';
import type { Clock } from '../util/clock.ts';

/** Used part of a request. */
interface BodyBearer {
  readonly headers: { readonly 'content-length'?: string | undefined };
  /** True once the body has come in. */
  readonly complete: boolean;
  readonly socket: { readonly bytesRead: number };
}

/** Request or response. */
interface Closing {
  /** `close`: the bytes are not needed any more. */
  once(event: 'close', listener: () => void): unknown;
}

export interface BodyHolder {
  readonly request: BodyBearer;
  /** Bytes that are held for a body without a length, and for a longer one. */
  readonly limit: number;
  readonly until: Closing;
  /** Answers the request before its body has come in, and reads no more of it. */
  readonly refuse: (error: SluiceError) => void;
}

interface Held {
  readonly holder: BodyHolder;
  readonly bytes: number;
  readonly sinceMs: number;
  /** Bytes that the connection had received before. */
  readonly before: number;
}

export interface BodyQuotaOptions {
  readonly bytesMax: number;
  /** Message of a refusal. */
  readonly error: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Time in which a body has to come in whole. One that is behind that pace makes room for others. */
const wholeMs = 60_000;
/** Time that a body has to begin. */
const graceMs = 2_000;

export class BodyQuota {
  readonly #options: BodyQuotaOptions;
  readonly #held = new Set<Held>();
  #bytes = 0;

  constructor(options: BodyQuotaOptions) {
    this.#options = options;
  }

  /**
   * Reserves bytes for a body until `until` closes. Where there are too few, bodies that come in too slowly are refused
   * first. Throws UNAVAILABLE; nothing was applied then.
   */
  hold(holder: BodyHolder): void {
    const { request, limit, until } = holder;
    const { bytesMax, error, clock } = this.#options;
    const bytes = Math.min(Number(request.headers['content-length'] ?? limit) || 0, limit);
    for (const slow of this.#held) {
      if (this.#bytes + bytes <= bytesMax) break;
      if (!this.#isBehind(slow)) continue;
      this.#release(slow);
      slow.holder.refuse(unavailable('the body came in too slowly, and others waited'));
    }
    if (this.#bytes + bytes > bytesMax) throw unavailable(error);
    const held = { holder, bytes, sinceMs: clock.monotonicMs(), before: request.socket.bytesRead };
    this.#held.add(held);
    this.#bytes += bytes;
    until.once('close', () => this.#release(held));
  }

  #isBehind({ holder: { request }, bytes, sinceMs, before }: Held): boolean {
    const elapsedMs = this.#options.clock.monotonicMs() - sinceMs;
    const received = request.socket.bytesRead - before;
    return !request.complete && elapsedMs >= graceMs && received * wholeMs < bytes * elapsedMs;
  }

  #release(held: Held): void {
    if (this.#held.delete(held)) this.#bytes -= held.bytes;
  }
}

const unavailable = (message: string): SluiceError =>
  new SluiceError('UNAVAILABLE', message, { body: { outcome: 'not-applied' }, headers: { Connection: 'close' } });
