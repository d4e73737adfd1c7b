// Body of a mirror's response: dropped, after its comparison has read it. What is longer than a chunk is read once the response
// to the request itself has passed, and then a part in each turn of the event loop, so that it takes no time from the primary.
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import type { Comparison } from './comparison.ts';

/** Milliseconds for which a primary is waited for: one that takes longer waits for its client or its upstream. */
const waitMs = 100;
/** Bytes that are read in one turn. */
const turnBytes = 64 << 10;

interface Primary {
  /** True when the request itself has its response. */
  readonly isOver: boolean;
}

export class DroppedResponse extends Timed implements BodySink {
  readonly #source: BodySource;
  readonly #primary: Primary;
  readonly #wheel: Wheel;
  readonly #comparison: Comparison | undefined;
  #onOver: (() => void) | undefined;
  /** Bytes since the last pause. */
  #taken = 0;
  /** True while the end of the primary is waited for, which is once at most. */
  #waits = false;
  #hasWaited = false;

  /** @param onOver called once, when the response has ended, whole or not */
  constructor(
    source: BodySource,
    primary: Primary,
    wheel: Wheel,
    comparison: Comparison | undefined,
    onOver: () => void,
  ) {
    super();
    this.#source = source;
    this.#primary = primary;
    this.#wheel = wheel;
    this.#comparison = comparison;
    this.#onOver = onOver;
  }

  from(): void {}

  data(chunk: Buffer): boolean {
    this.#comparison?.mirrorData(chunk);
    if (this.#waits) return false;
    this.#taken += chunk.length;
    if (this.#taken < turnBytes) return true;
    this.#taken = 0;
    if (this.#primary.isOver || this.#hasWaited) this.#resumeSoon();
    else this.#wait();
    return false;
  }

  end(): void {
    this.#comparison?.mirrorEnd();
    this.#over();
  }

  fail(why: ProxyError): void {
    this.#comparison?.mirrorFailed(why.type);
    this.#over();
  }

  /** Handles the end of the primary. */
  onPrimaryOver(): void {
    if (!this.#waits) return;
    this.#wheel.remove(this);
    this.#go();
  }

  /** Stops: the response is given up. */
  close(): void {
    this.#onOver = undefined;
    this.#waits = false;
    this.#wheel.remove(this);
  }

  override onDeadline(): void {
    this.#go();
  }

  #wait(): void {
    this.#hasWaited = true;
    this.#waits = true;
    this.#wheel.arm(this, waitMs);
  }

  #go(): void {
    this.#waits = false;
    this.#resumeSoon();
  }

  #resumeSoon(): void {
    setImmediate(() => {
      if (this.#onOver !== undefined) this.#source.resume();
    });
  }

  #over(): void {
    const report = this.#onOver;
    this.close();
    report?.();
  }
}
