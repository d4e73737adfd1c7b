// Simulated time: a binary heap of events, ordered by time and then by the order in which they were planned. Times and
// orders lie in arrays of numbers beside the heap: most of the work is to compare them.

export interface SimEvent {
  /** Slot of the node that experiences it, or -1 for the world. */
  readonly slot: number;
  readonly run: () => void;
}

export class EventQueue {
  #times = new Float64Array(256);
  #orders = new Float64Array(256);
  readonly #events: SimEvent[] = [];
  #planned = 0;

  get size(): number {
    return this.#events.length;
  }

  /** Time of the next event. */
  get nextAt(): number | undefined {
    return this.#events.length === 0 ? undefined : this.#times[0];
  }

  push(at: number, slot: number, run: () => void): void {
    const events = this.#events;
    let hole = events.length;
    if (hole === this.#times.length) this.#grow();
    const times = this.#times;
    const orders = this.#orders;
    const event = { slot, run };
    events.push(event);
    // Among equal times the event planned later comes later: it rises above strictly later times alone.
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (at >= times[parent]!) break;
      times[hole] = times[parent]!;
      orders[hole] = orders[parent]!;
      events[hole] = events[parent]!;
      hole = parent;
    }
    times[hole] = at;
    orders[hole] = this.#planned;
    events[hole] = event;
    this.#planned += 1;
  }

  pop(): SimEvent | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (first === undefined || last === undefined || events.length === 0) return first;
    this.#sink(last, events.length);
    return first;
  }

  /** Puts the event that stood at `end` to its place, from the top down. */
  #sink(event: SimEvent, end: number): void {
    const events = this.#events;
    const times = this.#times;
    const orders = this.#orders;
    const at = times[end]!;
    const order = orders[end]!;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= end) break;
      const other = child + 1;
      if (other < end && isBefore(times[other]!, orders[other]!, times[child]!, orders[child]!)) child = other;
      if (!isBefore(times[child]!, orders[child]!, at, order)) break;
      times[hole] = times[child]!;
      orders[hole] = orders[child]!;
      events[hole] = events[child]!;
      hole = child;
    }
    times[hole] = at;
    orders[hole] = order;
    events[hole] = event;
  }

  #grow(): void {
    this.#times = grown(this.#times);
    this.#orders = grown(this.#orders);
  }
}

function isBefore(at: number, order: number, otherAt: number, otherOrder: number): boolean {
  return at < otherAt || (at === otherAt && order < otherOrder);
}

function grown(numbers: Float64Array): Float64Array<ArrayBuffer> {
  const twice = new Float64Array(2 * numbers.length);
  twice.set(numbers);
  return twice;
}
