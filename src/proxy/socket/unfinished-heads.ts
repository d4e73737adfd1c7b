// Bytes of incomplete request heads, bounded for the process: a client that sends most of a head and then waits holds
// memory, and so do a thousand of them. Beyond the bound, the heads that began first are ended.
import type { ClientLoad } from '../shared/client-load.ts';
import { Timed, type Wheel } from '../wheel.ts';

/** Connection that may hold part of a head. */
export interface HeadHolder {
  /** Bytes counted for it. Only `UnfinishedHeads` sets it. */
  headBytes: number;
  /** Ends the incomplete head: 431, or the connection. */
  refuseHead(): void;
}

/** Milliseconds between two looks of a thread above its share at the sum of the process. */
const lookMs = 100;

/** Incomplete heads of one thread. */
export class UnfinishedHeads extends Timed {
  readonly #load: ClientLoad;
  readonly #wheel: Wheel;
  readonly #max: number;
  readonly #share: number;
  /** Holders in the order in which their heads began. */
  readonly #holders = new Set<HeadHolder>();
  #bytes = 0;
  #isLooking = false;

  /** @param max bytes that all threads may hold together */
  constructor(load: ClientLoad, wheel: Wheel, max: number, threads: number) {
    super();
    this.#load = load;
    this.#wheel = wheel;
    this.#max = max;
    this.#share = Math.floor(max / threads);
  }

  /** Sets the bytes of a head that the holder has; 0: none any more. */
  hold(holder: HeadHolder, bytes: number): void {
    const change = bytes - holder.headBytes;
    if (change === 0) return;
    if (bytes === 0) this.#holders.delete(holder);
    else if (holder.headBytes === 0) this.#holders.add(holder);
    holder.headBytes = bytes;
    this.#bytes += change;
    this.#load.addHeadBytes(change);
    // A sum above the bound implies that some thread is above its share.
    if (change < 0 || this.#bytes <= this.#share) return;
    this.#makeRoom();
    if (!this.#isLooking && this.#bytes > this.#share) {
      this.#isLooking = true;
      this.#wheel.arm(this, lookMs);
    }
  }

  override onDeadline(): void {
    this.#makeRoom();
    this.#isLooking = this.#bytes > this.#share;
    if (this.#isLooking) this.#wheel.arm(this, lookMs);
  }

  #makeRoom(): void {
    for (const oldest of this.#holders) {
      if (this.#bytes <= this.#share || this.#load.headBytes <= this.#max) return;
      this.hold(oldest, 0);
      this.#load.refuseHead();
      oldest.refuseHead();
    }
  }
}
