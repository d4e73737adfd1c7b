// Requests for the stream of activations, taken in slices: a thousand proxies that come back at once are read from the
// system in one turn of the loop, and other requests must not wait until all of them have been answered.
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface ArrivalsOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Runs in a later turn of the loop. */
  readonly later: (run: () => void) => void;
}

interface WaitingRequest {
  readonly isGone: () => boolean;
  readonly take: () => void;
}

/** Length of a time slice in milliseconds. */
const sliceMs = 8;

export class Arrivals {
  readonly #options: ArrivalsOptions;
  #waiting: WaitingRequest[] = [];
  #endMs = Number.NEGATIVE_INFINITY;

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  /** Takes a request now, if this turn has time left, or in its order later. Skips clients that have closed meanwhile. */
  add(arrival: WaitingRequest): void {
    const { now, later } = this.#options;
    if (this.#waiting.length === 0) {
      if (this.#endMs === Number.NEGATIVE_INFINITY) {
        this.#endMs = now() + sliceMs;
        later(() => this.#turn());
      }
      if (now() < this.#endMs) {
        arrival.take();
        return;
      }
    }
    this.#waiting.push(arrival);
  }

  #turn(): void {
    const { now, later } = this.#options;
    const waiting = this.#waiting;
    this.#endMs = now() + sliceMs;
    let at = 0;
    try {
      while (at < waiting.length && now() < this.#endMs) {
        const arrival = waiting[at++];
        if (arrival?.isGone() === false) arrival.take();
      }
    } finally {
      this.#waiting = waiting.slice(at);
      if (this.#waiting.length > 0) later(() => this.#turn());
      else this.#endMs = Number.NEGATIVE_INFINITY;
    }
  }
}

const streamPaths = new Set(['/sync/snapshot', '/api/v1/sync/snapshot']);

/** Installs the queue as the first hook: a request waits before the work of the others. */
export function takeInSlices(fastify: FastifyInstance, arrivals: Arrivals): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!streamPaths.has(pathOf(request))) done();
    else arrivals.add({ isGone: () => reply.raw.destroyed, take: done });
  });
}

const pathOf = ({ raw: { url = '' } }: FastifyRequest): string => url.split('?', 1)[0] ?? '';
