// Listeners of one configuration by their places, `address:port`, as requests on them are matched.
import type { Listener } from '../../model/listener.ts';
import { ServedListener } from './served-listener.ts';

/** An unchanged listener is one object over many configurations, and so is what is made of it. */
const made = new WeakMap<Listener, ServedListener>();

export class ServedListeners {
  /** Ascending by id: where several ask for a place, the first that can be opened has it. */
  readonly #byPlace = new Map<string, ServedListener[]>();

  constructor(listeners: readonly Listener[], placeOf: (listener: Listener) => string) {
    for (const listener of listeners) {
      const place = placeOf(listener);
      const served = made.get(listener) ?? new ServedListener(listener);
      made.set(listener, served);
      const known = this.#byPlace.get(place);
      if (known === undefined) this.#byPlace.set(place, [served]);
      else known.push(served);
    }
  }

  has(place: string): boolean {
    return this.#byPlace.has(place);
  }

  /** Returns the listener with the id at a place; without one, the first there. */
  at(place: string, id: string): ServedListener | undefined {
    const [first, ...others] = this.#byPlace.get(place) ?? [];
    return first?.id === id ? first : (others.find((each) => each.id === id) ?? first);
  }
}
