// Lifetime of connections to one name: until a refreshed look-up no longer has their address, or their maximum age is
// reached. The name is followed while connections to it are open; an address needs no look-up.
import { isIP } from 'node:net';
import type { Cancel } from '../../util/clock.ts';
import type { NameLookup } from './name-lookup.ts';

/** Part of an age by which connections differ, so that they do not all end at a time. */
const jitter = 0.1;

/** Emitter of the event that a connection has ended. */
export interface Closing {
  once(event: 'close', act: () => void): unknown;
}

export class ConnectionLife {
  readonly #host: string;
  readonly #names: NameLookup;
  readonly #maxAgeMs: number;
  readonly #onMoved: () => void;
  #open = 0;
  #stop: Cancel | undefined;
  /** Addresses of the last look-up; undefined: none since the name is followed. */
  #current: ReadonlySet<string> | undefined;

  /**
   * `maxAgeMs`: 0 = no limit. `onMoved`: the name has other addresses than before; connections for which `isCurrent`
   * returns false may not be used again.
   */
  constructor(host: string, names: NameLookup, maxAgeMs: number, onMoved: () => void) {
    this.#host = host;
    this.#names = names;
    this.#maxAgeMs = maxAgeMs;
    this.#onMoved = onMoved;
  }

  /** A connection stands. */
  opened(socket: Closing): void {
    if (isIP(this.#host) > 0) return;
    if (this.#open++ === 0) this.#stop = this.#names.follow(this.#host, (addresses) => this.#onAddresses(addresses));
    socket.once('close', () => this.#closed());
  }

  /** The name still has that address, as far as is known. */
  isCurrent(address: string): boolean {
    return this.#current === undefined || this.#current.has(address);
  }

  /** Time for which a new connection is used, milliseconds: up to a tenth less than the maximum age. 0: no limit. */
  get ageMs(): number {
    return this.#maxAgeMs * (1 - jitter * Math.random());
  }

  #closed(): void {
    if (--this.#open > 0) return;
    this.#stop?.();
    this.#stop = undefined;
    this.#current = undefined;
  }

  #onAddresses(addresses: readonly { readonly address: string }[]): void {
    const before = this.#current;
    this.#current = new Set(addresses.map(({ address }) => address));
    if (before?.size !== this.#current.size || addresses.some(({ address }) => !before.has(address))) this.#onMoved();
  }
}
