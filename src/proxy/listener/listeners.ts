// Open ports, brought in line with each configuration: an unchanged one keeps its socket, a removed one drains, one
// that cannot open reports its reason and delays nothing else (contract.md §2.2, architecture.md §9).
import { listenerDefaults } from '../../model/defaults.ts';
import type { Listener } from '../../model/listener.ts';
import { collide, type OwnPlace, ownPlaceAt, passesThrough, type SharingPlace } from '../../model/listener-place.ts';
import { describe, type Problem } from '../../model/problem.ts';
import type { ListenerMemory } from '../shared/listener-loads.ts';
import type { TicketSecrets } from '../shared/ticket-secrets.ts';
import { Terminators } from '../tls/terminators.ts';
import type { PortOwner } from './listener-service.ts';
import type { ListenerTools } from './listener-tools.ts';
import { OpenPort, type PortOwners } from './open-port.ts';

export interface ListenerStatus {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly port: number;
  /** `waiting`: its port cannot be bound at the moment and is tried again. */
  readonly state: 'open' | 'closed' | 'waiting';
  /** Reason why it is not open. */
  readonly reason?: string;
  /** Problems of its TLS, whether it is open or not. Pointers name entities by id. */
  readonly warnings?: readonly Problem[];
}

/** Port that another process has. */
export interface BusyPlace {
  /** `address:port` */
  readonly place: string;
  readonly reason: string;
}

export interface ListenersOptions extends ListenerTools {
  /** Ports of the process itself. */
  readonly ownPlaces: readonly OwnPlace[];
  /** Ticket secrets of the process. */
  readonly tickets: TicketSecrets;
}

export class Listeners {
  readonly #options: ListenersOptions;
  /** Open ports by `address:port`. */
  #open = new Map<string, OpenPort>();
  #status: ListenerStatus[] = [];
  readonly #draining = new Set<Promise<void>>();
  readonly #retired = new Set<OpenPort>();
  /** Ids of the listeners with metrics. */
  #counting: ReadonlySet<string> = new Set();
  readonly #terminators: Terminators;

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#terminators = new Terminators(options.clock, options.tickets);
  }

  status(): readonly ListenerStatus[] {
    return this.#status;
  }

  /** Failed TLS handshakes, by id of the listener that has the port and by reason. */
  handshakeFailures(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    const open = this.#status.filter(({ state }) => state === 'open');
    return new Map(
      open.map((status) => {
        const service = this.#open.get(keyOf(status))?.services.find(({ id }) => id === status.id);
        return [status.id, service?.handshakeFailures ?? new Map()];
      }),
    );
  }

  /** Makes the TLS material that `install` with the same listeners will need, beside running traffic. */
  prepare(listeners: readonly Listener[]): Promise<void> {
    return this.#terminators.prepare(listeners);
  }

  /**
   * Installs listeners in ascending order of id, so the first of those whose places overlap is the one that opens, or
   * waits; `busy` places are not tried. Not to be called again before it resolves. A listener without a call of
   * `prepare` has no TLS to open with.
   */
  async install(listeners: readonly Listener[], busy: readonly BusyPlace[], memory: ListenerMemory): Promise<void> {
    const wanted = new Map<string, Listener[]>();
    const status: ListenerStatus[] = [];
    const claims: (SharingPlace & { readonly name: string })[] = [];
    for (const listener of listeners) {
      const place = this.#placeOf(listener);
      const key = keyOf(place);
      const claim = { ...place, name: listener.name, tls: listener.tls };
      const first = claims.find((each) => collide(each, claim));
      const taken = busy.find(({ place }) => place === key);
      const unusable = this.#unusable(listener);
      if (unusable !== undefined) {
        status.push(this.#in('closed', listener, unusable));
        continue;
      }
      const own = ownPlaceAt(this.#options.ownPlaces, place);
      if (own !== undefined) {
        status.push(this.#in('closed', listener, `${own.owner} of this process has this port`));
        continue;
      }
      if (first !== undefined) {
        status.push(this.#in('closed', listener, `listener "${first.name}" has this port`));
        continue;
      }
      claims.push(claim);
      if (taken !== undefined) status.push(this.#in('waiting', listener, taken.reason));
      else wanted.set(key, [...(wanted.get(key) ?? []), listener]);
    }
    for (const [key, open] of this.#open) if (!wanted.has(key)) this.#retire(key, open);
    this.#forgetCounters(listeners);
    for (const [key, owners] of wanted) status.push(...(await this.#bring(key, owners, memory)));
    this.#status = status;
  }

  async close(withinMs: number): Promise<void> {
    const closing = [...this.#open.values()].map((open) => open.close(withinMs));
    this.#open.clear();
    this.#status = [];
    const overdue = new Promise<void>((resolve) => this.#options.clock.after(withinMs, resolve));
    await Promise.race([Promise.all([...closing, ...this.#draining]), overdue]);
  }

  async #bring(key: string, listeners: readonly Listener[], memory: ListenerMemory): Promise<ListenerStatus[]> {
    const open = this.#open.get(key);
    const ownerOf = (passes: boolean): PortOwner | undefined => {
      const listener = listeners.find((each) => passesThrough(each) === passes);
      if (listener === undefined) return undefined;
      return { listener, terminator: this.#terminators.of(listener)?.terminator, memory: memory.get(listener.id) };
    };
    const owners: PortOwners = { main: ownerOf(false), passthrough: ownerOf(true) };
    const [first] = listeners;
    try {
      if (open !== undefined) open.configure(owners, this.#options.settings.shutdownTimeoutMs);
      else if (first !== undefined) {
        this.#open.set(key, await OpenPort.open(this.#placeOf(first), owners, this.#options));
      }
      return listeners.map((listener) => this.#opened(listener));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return listeners.map((listener) => this.#in('waiting', listener, reason));
    }
  }

  /** Forgets counters of removed listeners: they belong to the listener, not to its port. */
  #forgetCounters(listeners: readonly Listener[]): void {
    const counting = new Set(listeners.filter(({ metrics }) => metrics !== undefined).map(({ id }) => id));
    for (const id of this.#counting) {
      if (counting.has(id)) continue;
      for (const { services } of [...this.#open.values(), ...this.#retired])
        for (const service of services) if (service.id === id) service.forgetCounters();
      this.#options.metrics.forget(id);
    }
    this.#counting = counting;
  }

  #retire(key: string, open: OpenPort): void {
    this.#open.delete(key);
    this.#retired.add(open);
    const drained = open.close(this.#options.settings.shutdownTimeoutMs).finally(() => {
      this.#draining.delete(drained);
      this.#retired.delete(open);
    });
    this.#draining.add(drained);
  }

  #placeOf(listener: Listener): { address: string; port: number } {
    return placeOf(listener, this.#options.settings.bindAddress);
  }

  /** Returns the reason why its TLS cannot be used, if so: it is never opened in plaintext instead. */
  #unusable(listener: Listener): string | undefined {
    if (listener.tls === undefined || passesThrough(listener)) return undefined;
    const terminated = this.#terminators.of(listener);
    if (terminated?.terminator !== undefined) return undefined;
    return describe(terminated?.warnings.slice(0, 1) ?? []);
  }

  #opened(listener: Listener): ListenerStatus {
    return { ...this.#about(listener), state: 'open' };
  }

  #in(state: 'closed' | 'waiting', listener: Listener, reason: string): ListenerStatus {
    return { ...this.#about(listener), state, reason };
  }

  #about(listener: Listener): Omit<ListenerStatus, 'state'> {
    const warnings = this.#terminators.of(listener)?.warnings ?? [];
    const about = { id: listener.id, name: listener.name, ...this.#placeOf(listener) };
    return warnings.length > 0 ? { ...about, warnings } : about;
  }
}

interface BindAddress {
  readonly address: string;
  readonly port: number;
}

/** Returns `address:port`, the identity of a port. */
export const keyOf = ({ address, port }: BindAddress): string => `${address}:${port}`;

export const placeOf = (listener: Listener, bindAddress: string | undefined): BindAddress => ({
  address: bindAddress ?? listener.address ?? listenerDefaults.address,
  port: listener.port,
});

export const statusIn = (list: readonly ListenerStatus[], of: ListenerStatus): ListenerStatus | undefined =>
  list.find((status) => status.id === of.id && keyOf(status) === keyOf(of));
