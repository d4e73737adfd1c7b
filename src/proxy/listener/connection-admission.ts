// Admission of connections to one listener: within its own limit, that of the process, and the descriptors that are
// not reserved for the store, raft and the API. A connection above a limit is closed at once, counted, and logged in
// one line per interval.
import type { Listener } from '../../model/listener.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { ClientLoad, type ConnectionLimit } from '../shared/client-load.ts';
import { descriptorBounds } from '../socket/descriptors.ts';
import { Timed, type Wheel } from '../wheel.ts';

/** Client connections of the process. */
export interface ClientBounds {
  readonly load: ClientLoad;
  readonly connectionsMax: number;
  /** Number of the thread that counts. */
  readonly place: number;
}

const logIntervalMs = 10_000;

export class Admission extends Timed {
  readonly #bounds: ClientBounds;
  readonly #wheel: Wheel;
  readonly #logger: Logger;
  readonly #unlogged = new Map<ConnectionLimit, number>();
  #listener: Listener;
  /** Undefined: the listener has no limit of its own. */
  #own: ClientLoad | undefined;
  #open = 0;

  constructor(
    listener: Listener,
    memory: SharedArrayBuffer | undefined,
    bounds: ClientBounds,
    wheel: Wheel,
    logger: Logger,
  ) {
    super();
    this.#listener = listener;
    this.#bounds = bounds;
    this.#wheel = wheel;
    this.#logger = logger;
    this.#own = memory && new ClientLoad(memory, bounds.place);
  }

  /** Counts open connections for the listener that has the port now. */
  follow(listener: Listener, memory: SharedArrayBuffer | undefined): void {
    const stays = listener.id === this.#listener.id && (memory === undefined) === (this.#own === undefined);
    this.#listener = listener;
    if (stays) return;
    this.#own?.add(-this.#open);
    this.#own = memory && new ClientLoad(memory, this.#bounds.place);
    this.#own?.add(this.#open);
  }

  /** Counts the connection with that descriptor; returns false when it has to be closed. */
  enter(descriptor: number): boolean {
    const limit = this.#limitAt(descriptor);
    if (limit === undefined) {
      this.#open++;
      return true;
    }
    this.#bounds.load.refuse(limit);
    if (this.#unlogged.size === 0) this.#wheel.arm(this, logIntervalMs);
    this.#unlogged.set(limit, (this.#unlogged.get(limit) ?? 0) + 1);
    return false;
  }

  leave(): void {
    this.#open--;
    this.#own?.add(-1);
    this.#bounds.load.add(-1);
  }

  override onDeadline(): void {
    const refused = Object.fromEntries(this.#unlogged);
    this.#unlogged.clear();
    this.#logger.warn({ listener: this.#listener.name, refused }, 'connections beyond a limit were closed');
  }

  #limitAt(descriptor: number): ConnectionLimit | undefined {
    const { load, connectionsMax } = this.#bounds;
    if (descriptor >= descriptorBounds.clients) return 'descriptors';
    if (!load.open(connectionsMax)) return 'process';
    if (this.#own === undefined || this.#own.open(this.#listener.maxConnections ?? 0)) return undefined;
    load.add(-1);
    return 'listener';
  }
}
