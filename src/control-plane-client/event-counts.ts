// Counts of the events on the streams of this process, for its metrics.

/** Names of events are the sender's: others than these are counted as one. */
const known = new Set(['snapshot', 'current', 'candidate', 'share', 'withdraw', 'ask']);

export class EventCounts {
  readonly #byEvent = new Map<string, number>([...known].map((event) => [event, 0]));

  heard(event: string): void {
    const name = known.has(event) ? event : 'other';
    this.#byEvent.set(name, (this.#byEvent.get(name) ?? 0) + 1);
  }

  entries(): Iterable<[string, number]> {
    return this.#byEvent.entries();
  }
}
