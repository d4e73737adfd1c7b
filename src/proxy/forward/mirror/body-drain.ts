// Body drain: reads the rest of a body whose request has failed, for its mirror, which should get all of it
// (contract.md §7.13). The client gets the error once the copy is complete, or soon: a mirror must not delay it for
// long.
import type { BodySink } from '../../message/body.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import { waitingBytesMax } from './body-buffer.ts';
import type { Tee } from './tee.ts';

const withinMs = 5_000;

export class BodyDrain extends Timed implements BodySink {
  readonly #wheel: Wheel;
  readonly #mirror: { readonly wantsRest: boolean };
  #onOver: (() => void) | undefined;
  #bytes = 0;

  constructor(wheel: Wheel, mirror: { readonly wantsRest: boolean }, onOver: () => void) {
    super();
    this.#wheel = wheel;
    this.#mirror = mirror;
    this.#onOver = onOver;
    wheel.arm(this, withinMs);
  }

  read(body: Tee): void {
    body.continueInto(this);
  }

  /** Stops; the callback is not called any more. */
  close(): void {
    this.#onOver = undefined;
    this.#wheel.remove(this);
  }

  giveUp(): void {
    const report = this.#onOver;
    this.close();
    report?.();
  }

  override onDeadline(): void {
    this.giveUp();
  }

  from(): void {}

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > waitingBytesMax || !this.#mirror.wantsRest) this.#giveUpSoon();
    return true;
  }

  end(): void {
    this.#giveUpSoon();
  }

  fail(): void {
    this.#giveUpSoon();
  }

  /** Ends the wait in a microtask: the source must not get the response while it delivers. */
  #giveUpSoon(): void {
    queueMicrotask(() => this.giveUp());
  }
}
