// Outcomes of this node's proposals. A proposal is committed when the entry at its index has its term, certainly not
// applied when a committed entry of another term took that index, and unknown when this node cannot tell in time.
import type { Entry, Index, Term } from '../core/types.ts';
import type { Outcome } from './driver-host.ts';

interface Pending {
  readonly id: number;
  readonly term: Term;
}

export class Proposals {
  readonly #report: (id: number, outcome: Outcome) => void;
  readonly #pending = new Map<Index, Pending[]>();
  /** Monotonic time after which no proposal waits any longer; undefined while this node leads. */
  #deadline: number | undefined;

  constructor(report: (id: number, outcome: Outcome) => void) {
    this.#report = report;
  }

  add(id: number, index: Index, term: Term): void {
    const others = this.#pending.get(index) ?? [];
    this.#pending.set(index, [...others, { id, term }]);
  }

  /** These entries are committed. */
  committed(entries: readonly Entry[]): void {
    if (this.#pending.size === 0) return;
    for (const { index, term } of entries) {
      for (const pending of this.#take(index)) {
        const isOurs = pending.term === term;
        this.#report(pending.id, isOurs ? { kind: 'committed', index } : { kind: 'notApplied', why: 'overwritten' });
      }
    }
  }

  #take(index: Index): Pending[] {
    const pending = this.#pending.get(index) ?? [];
    this.#pending.delete(index);
    return pending;
  }

  /** A checkpoint hides what happened up to `index`. */
  compacted(index: Index): void {
    for (const at of [...this.#pending.keys()].filter((key) => key <= index)) this.#giveUp(at, 'compacted');
  }

  leads(doesLead: boolean, now: number, patienceMs: number): void {
    if (doesLead) this.#deadline = undefined;
    else this.#deadline ??= now + patienceMs;
  }

  tick(now: number): void {
    if (this.#deadline === undefined || now < this.#deadline || this.#pending.size === 0) return;
    for (const index of [...this.#pending.keys()]) this.#giveUp(index, 'stepped down');
  }

  stop(): void {
    for (const index of [...this.#pending.keys()]) this.#giveUp(index, 'stopping');
  }

  #giveUp(index: Index, why: 'compacted' | 'stepped down' | 'stopping'): void {
    for (const { id } of this.#take(index)) this.#report(id, { kind: 'unknown', why });
  }
}
