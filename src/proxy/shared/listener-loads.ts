// Memory in which threads count the connections of listeners that have a limit of their own. Main keeps it by id of the
// listener and hands it to the threads with each commit.
import type { Listener } from '../../model/listener.ts';
import { ClientLoad } from './client-load.ts';

/** By id of the listener. */
export type ListenerMemory = ReadonlyMap<string, SharedArrayBuffer>;

export class ListenerLoads {
  readonly #threads: number;
  #memory = new Map<string, SharedArrayBuffer>();

  constructor(threads: number) {
    this.#threads = threads;
  }

  get memory(): ListenerMemory {
    return this.#memory;
  }

  /** Keeps what is known of these listeners and makes what is missing. */
  follow(listeners: readonly Listener[]): void {
    const limited = listeners.filter(({ maxConnections = 0 }) => maxConnections > 0);
    this.#memory = new Map(
      limited.map(({ id }) => [id, this.#memory.get(id) ?? ClientLoad.memory(this.#threads)] as const),
    );
  }

  /** The thread at `place` has ended. */
  forget(place: number): void {
    for (const buffer of this.#memory.values()) new ClientLoad(buffer, place).forget(place);
  }
}
