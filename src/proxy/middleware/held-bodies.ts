// Bodies that middlewares hold to show them whole to a service: bounded one by one, and together for each worker, so that
// clients who send many at a time do not fill the memory of the process (security.md S19).
import type { HeldCount } from '../exchange/held-body.ts';
import { onePerWorker } from './instances.ts';
import { rejection } from './rejection.ts';
import type { MiddlewareServices } from './services.ts';

/** Bytes of one body; a larger one is refused. */
export const heldBodyBytesMax = 64 * 1024 * 1024;
/** Bytes of all bodies of one process, where its workers have room for a body of any size. */
const processBytesMax = 256 * 1024 * 1024;

/** Answer to a request whose body finds no room. */
export const noRoom = rejection(503, 'too many request bodies are held', ['Retry-After', '1']);

export class HeldBodies {
  #free: number;

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** Returns the count of one body. */
  count(): HeldCount {
    let held = 0;
    let isOver = false;
    return {
      grow: (bytes) => {
        if (isOver) return true;
        if (bytes > this.#free) return false;
        this.#free -= bytes;
        held += bytes;
        return true;
      },
      release: () => {
        isOver = true;
        this.#free += held;
        held = 0;
      },
    };
  }
}

/** Returns the bodies that the middlewares of one worker hold. */
export const heldBodiesOf = onePerWorker(
  ({ share }: Pick<MiddlewareServices, 'share'>) => new HeldBodies(Math.max(heldBodyBytesMax, share(processBytesMax))),
);
