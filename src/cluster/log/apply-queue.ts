// Queue of entries that the log has handed over and the state does not hold yet, in the order in which they can be
// applied.
import type { Adopted, Committed } from './log-port.ts';

export class ApplyQueue {
  readonly #arrived: (Committed | Adopted)[] = [];

  add(message: Committed | Adopted): void {
    this.#arrived.push(message);
  }

  clear(): void {
    this.#arrived.length = 0;
  }

  /** Undefined: nothing more can be taken in yet. What lies behind a gap waits for the checkpoint that fills it. */
  next(applied: number): Committed | Adopted | undefined {
    const [first] = this.#arrived;
    if (first?.type !== 'committed' || first.batch.first <= applied + 1) return this.#arrived.shift();
    const adoptAt = this.#arrived.findIndex(({ type }) => type === 'adopt');
    return adoptAt < 0 ? undefined : this.#arrived.splice(adoptAt, 1)[0];
  }
}
