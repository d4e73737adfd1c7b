// The open ports, brought in line with each configuration: what stays keeps its socket, what goes drains, what cannot
// open says why and holds up nothing else (contract.md §2.2, architecture.md §9).
import type { Listener } from '../../model/listener.ts';
import { type ListenerTools, type OpenListener, openListener } from './listener.ts';

export interface ListenerStatus {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly port: number;
  /** `waiting`: for its port, which cannot be had at the moment and is tried again. */
  readonly state: 'open' | 'closed' | 'waiting';
  /** Why it is not open. */
  readonly reason?: string;
}

/** A port that another process has. */
export interface BusyPlace {
  /** `address:port` */
  readonly place: string;
  readonly reason: string;
}

export interface ListenersOptions extends ListenerTools {
  readonly bindAddress: string | undefined;
  /** What a removed listener's connections have left, in milliseconds. */
  readonly drainMsMax: number;
  /** Other threads listen on the same ports. */
  readonly shared: boolean;
}

export class Listeners {
  readonly #options: ListenersOptions;
  /** By `address:port`. */
  #open = new Map<string, OpenListener>();
  #status: ListenerStatus[] = [];
  readonly #draining = new Set<Promise<void>>();
  readonly #retired = new Set<OpenListener>();
  /** Ids of the listeners that count. */
  #counting: ReadonlySet<string> = new Set();

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  status(): readonly ListenerStatus[] {
    return this.#status;
  }

  /**
   * Ascending by id, so the first of two with one place is the one that opens; `busy` places are not tried. Not to be
   * called again before it resolves.
   */
  async install(listeners: readonly Listener[], busy: readonly BusyPlace[]): Promise<void> {
    const wanted = new Map<string, Listener>();
    const status: ListenerStatus[] = [];
    for (const listener of listeners) {
      const key = keyOf(this.#placeOf(listener));
      const first = wanted.get(key);
      const taken = busy.find(({ place }) => place === key);
      if (listener.tls !== undefined) status.push(this.#in('closed', listener, 'TLS is not available in this version'));
      else if (first !== undefined) status.push(this.#in('closed', listener, `listener "${first.name}" has this port`));
      else if (taken !== undefined) status.push(this.#in('waiting', listener, taken.reason));
      else wanted.set(key, listener);
    }
    for (const [key, open] of this.#open) if (!wanted.has(key)) this.#retire(key, open);
    this.#forgetCounters(listeners);
    for (const [key, listener] of wanted) status.push(await this.#bring(key, listener));
    this.#status = status;
  }

  async close(withinMs: number): Promise<void> {
    const closing = [...this.#open.values()].map((open) => open.close(withinMs));
    this.#open.clear();
    this.#status = [];
    const overdue = new Promise<void>((resolve) => this.#options.clock.after(withinMs, resolve));
    await Promise.race([Promise.all([...closing, ...this.#draining]), overdue]);
  }

  async #bring(key: string, listener: Listener): Promise<ListenerStatus> {
    const open = this.#open.get(key);
    if (open !== undefined) {
      open.configure(listener);
      return this.#opened(listener);
    }
    try {
      this.#open.set(
        key,
        await openListener({ ...this.#placeOf(listener), shared: this.#options.shared }, listener, this.#options),
      );
      return this.#opened(listener);
    } catch (error) {
      return this.#in('waiting', listener, error instanceof Error ? error.message : String(error));
    }
  }

  /** What a listener counted goes with the listener, not with its port. */
  #forgetCounters(listeners: readonly Listener[]): void {
    const counting = new Set(listeners.filter(({ metrics }) => metrics !== undefined).map(({ id }) => id));
    for (const id of this.#counting) {
      if (counting.has(id)) continue;
      for (const open of [...this.#open.values(), ...this.#retired]) if (open.id === id) open.forgetCounters();
      this.#options.metrics.forget(id);
    }
    this.#counting = counting;
  }

  #retire(key: string, open: OpenListener): void {
    this.#open.delete(key);
    this.#retired.add(open);
    const drained = open.close(this.#options.drainMsMax).finally(() => {
      this.#draining.delete(drained);
      this.#retired.delete(open);
    });
    this.#draining.add(drained);
  }

  #placeOf(listener: Listener): { address: string; port: number } {
    return placeOf(listener, this.#options.bindAddress);
  }

  #opened(listener: Listener): ListenerStatus {
    return { id: listener.id, name: listener.name, ...this.#placeOf(listener), state: 'open' };
  }

  #in(state: 'closed' | 'waiting', listener: Listener, reason: string): ListenerStatus {
    return { id: listener.id, name: listener.name, ...this.#placeOf(listener), state, reason };
  }
}

interface Place {
  readonly address: string;
  readonly port: number;
}

/** `address:port`: what makes two listeners the same port. */
export const keyOf = ({ address, port }: Place): string => `${address}:${port}`;

export const placeOf = (listener: Listener, bindAddress: string | undefined): Place => ({
  address: bindAddress ?? listener.address ?? '0.0.0.0',
  port: listener.port,
});

export const statusIn = (list: readonly ListenerStatus[], id: string): ListenerStatus | undefined =>
  list.find((status) => status.id === id);
