// The rest of a body whose request has failed, read for its mirror alone, which is to have all of it (contract.md §7.13).
// The client hears of the failure once the copy has what it lacks, or soon: a mirror is no reason to wait for long.
import type { BodySink } from '../../message/body.ts';
import { Timed, type Wheel } from '../../wheel.ts';
import { waitingBytesMax } from './body-buffer.ts';
import type { Tee } from './tee.ts';

const withinMs = 5_000;

export class MirroredRest extends Timed implements BodySink {
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
    body.goOn(this);
  }

  /** Nobody waits any more. */
  close(): void {
    this.#onOver = undefined;
    this.#wheel.remove(this);
  }

  giveUp(): void {
    const tell = this.#onOver;
    this.close();
    tell?.();
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

  /** Whoever delivers the body is not to be answered while it does. */
  #giveUpSoon(): void {
    queueMicrotask(() => this.giveUp());
  }
}
