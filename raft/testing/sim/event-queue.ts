// Simulated time: a binary heap of events, ordered by time and then by the order in which they were planned.

export interface SimEvent {
  readonly at: number;
  readonly order: number;
  /** Slot of the node that experiences it, or -1 for the world. */
  readonly slot: number;
  readonly run: () => void;
}

export class EventQueue {
  readonly #heap: SimEvent[] = [];
  #planned = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Time of the next event. */
  get nextAt(): number | undefined {
    return this.#heap[0]?.at;
  }

  push(at: number, slot: number, run: () => void): void {
    const event = { at, order: this.#planned, slot, run };
    this.#planned += 1;
    let hole = this.#heap.push(event) - 1;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (!isBefore(event, this.#heap[parent]!)) break;
      this.#heap[hole] = this.#heap[parent]!;
      hole = parent;
    }
    this.#heap[hole] = event;
  }

  pop(): SimEvent | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first === undefined || last === undefined || this.#heap.length === 0) return first;
    this.#sink(last);
    return first;
  }

  #sink(event: SimEvent): void {
    const { length } = this.#heap;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= length) break;
      if (child + 1 < length && isBefore(this.#heap[child + 1]!, this.#heap[child]!)) child += 1;
      if (!isBefore(this.#heap[child]!, event)) break;
      this.#heap[hole] = this.#heap[child]!;
      hole = child;
    }
    this.#heap[hole] = event;
  }
}

function isBefore(a: SimEvent, b: SimEvent): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
