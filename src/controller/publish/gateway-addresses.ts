// Addresses of Gateways out of a pool: each has one of its own, kept over restarts by its status.
import { isIP } from 'node:net';
import type { Gateway } from '../gateway-api/gateway.ts';
import type { Assignment } from '../graph/controller-graph.ts';

/** Address of listeners that are on every address. */
export const anyAddress = '0.0.0.0';

/** IPv4 addresses of a CIDR as numbers, network and broadcast left out. */
export interface AddressPool {
  readonly first: number;
  readonly last: number;
}

const numberOf = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const addressOf = (n: number): string => [24, 16, 8, 0].map((shift) => Math.floor(n / 2 ** shift) % 256).join('.');

/** Returns the addresses that the status of a Gateway has. */
export const statusAddresses = (gateway: Pick<Gateway, 'status'> | undefined): string[] =>
  (gateway?.status?.addresses ?? []).map(({ value }) => value);

/** Parses `10.0.0.0/24`; undefined for anything else. A pool of one address is that one. */
export function parsePool(text: string): AddressPool | undefined {
  const [, address = '', bits] = /^([0-9.]+)\/(\d{1,2})$/.exec(text) ?? [];
  const width = 32 - Number(bits);
  if (isIP(address) !== 4 || width < 0 || width > 32) return undefined;
  const size = 2 ** width;
  const network = Math.floor(numberOf(address) / size) * size;
  return size <= 2 ? { first: network, last: network + size - 1 } : { first: network + 1, last: network + size - 2 };
}

export class Addresses {
  readonly #pool: AddressPool;
  /** Key of the Gateway that has an address. */
  readonly #holders = new Map<string, string>();
  readonly #held = new Map<string, Assignment>();

  constructor(pool: AddressPool) {
    this.#pool = pool;
  }

  /**
   * Returns the address of a Gateway, assigned if it has none. The pool `0.0.0.0/32` is every address, for all Gateways.
   * @param awaited returns the addresses that other Gateways come back for: by their statuses they had them before this process began
   */
  assign(key: string, gateway: Pick<Gateway, 'spec' | 'status'>, awaited: () => ReadonlySet<string>): Assignment {
    if (this.#pool.last === 0) return { addresses: [anyAddress] };
    const asked = (gateway.spec.addresses ?? []).flatMap(({ value }) =>
      value === undefined || value === '' ? [] : [value],
    );
    const had = [...(this.#held.get(key)?.addresses ?? []), ...statusAddresses(gateway)];
    this.#free(key);
    let others: ReadonlySet<string> | undefined;
    const isAwaited = (address: string): boolean => {
      others ??= awaited();
      return others.has(address);
    };
    const isFree = (address: string): boolean =>
      this.#isFree(address) && (had.includes(address) || !isAwaited(address));
    const unusable = asked.find((address) => !isFree(address));
    const addresses = asked.length > 0 ? asked : [had.find(isFree) ?? this.#lowestFree(isFree)];
    const usable = addresses.filter((address) => address !== undefined);
    const assignment: Assignment =
      unusable !== undefined || usable.length === 0
        ? { addresses: [], unusable: unusable ?? 'the pool, all of whose addresses are taken,' }
        : { addresses: usable };
    for (const address of assignment.addresses) this.#holders.set(address, key);
    this.#held.set(key, assignment);
    return assignment;
  }

  release(key: string): void {
    this.#free(key);
    this.#held.delete(key);
  }

  /** Returns whether a Gateway was looked at since this process began. */
  knows(key: string): boolean {
    return this.#held.has(key);
  }

  /** Returns the Gateways that wait for an address. */
  waiting(): string[] {
    return [...this.#held].flatMap(([key, { unusable }]) => (unusable === undefined ? [] : [key]));
  }

  #free(key: string): void {
    for (const address of this.#held.get(key)?.addresses ?? []) this.#holders.delete(address);
  }

  #isFree(address: string): boolean {
    if (isIP(address) !== 4) return false;
    const n = numberOf(address);
    return n >= this.#pool.first && n <= this.#pool.last && !this.#holders.has(address);
  }

  #lowestFree(isFree: (address: string) => boolean): string | undefined {
    for (let n = this.#pool.first; n <= this.#pool.last; n++) {
      const address = addressOf(n);
      if (isFree(address)) return address;
    }
    return undefined;
  }
}
