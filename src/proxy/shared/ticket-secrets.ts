// Secrets of session tickets, shared by all threads of a process and kept only there: the one for new tickets and the
// one before it. Main writes, all threads read; no message and no lock is needed, since only a secret that is no longer
// used for new tickets is overwritten.
import { randomBytes } from 'node:crypto';
import type { Cancel, Clock } from '../../util/clock.ts';

/** A ticket is good for one to two times this long. */
export const ticketLifeMs = 12 * 60 * 60 * 1_000;

const secretBytes = 32;
const headerBytes = 4;

export class TicketSecrets {
  readonly buffer: SharedArrayBuffer;
  readonly #epoch: Int32Array;

  /** `buffer` is that of main's; without, new secrets are made. */
  constructor(buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(headerBytes + 2 * secretBytes);
    this.#epoch = new Int32Array(this.buffer, 0, 1);
    if (buffer !== undefined) return;
    this.#slot(0).set(randomBytes(secretBytes));
    this.#slot(1).set(randomBytes(secretBytes));
  }

  /** Changes when the secrets do. */
  get epoch(): number {
    return Atomics.load(this.#epoch, 0);
  }

  /** Copies: the one in use and the former. */
  read(epoch: number): readonly [current: Buffer, former: Buffer] {
    return [Buffer.from(this.#slot(epoch)), Buffer.from(this.#slot(epoch + 1))];
  }

  /** The one in use becomes the former; the former is gone. */
  rotate(): void {
    const next = this.epoch + 1;
    this.#slot(next).set(randomBytes(secretBytes));
    Atomics.store(this.#epoch, 0, next);
  }

  /** Rotates for as long as the process lives. For main. */
  keepRotating(clock: Clock): Cancel {
    let cancel: Cancel = () => {};
    const wait = (): void => {
      cancel = clock.after(ticketLifeMs, () => {
        this.rotate();
        wait();
      });
    };
    wait();
    return () => cancel();
  }

  #slot(number: number): Uint8Array {
    return new Uint8Array(this.buffer, headerBytes + (number & 1) * secretBytes, secretBytes);
  }
}
