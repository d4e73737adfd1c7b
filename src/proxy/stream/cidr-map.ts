// CIDR map: values by ranges of addresses, of which the longest that holds an address counts. A look-up costs one
// probe for each length of prefix that occurs, however many ranges there are.
import { parseCidr } from '../../model/cidr.ts';
import { ipBytes } from '../../util/ip-address.ts';
import { plainIp } from '../message/client-address.ts';

/** A value with the length of its range; -1 for any address. */
export interface Ranged<T> {
  readonly bits: number;
  readonly value: T;
}

interface Prefixes<T> {
  readonly bits: number;
  readonly values: Map<string, Ranged<T>>;
}

export class CidrMap<T> {
  /** Descending by length of prefix. */
  readonly #ipv4: Prefixes<T>[] = [];
  readonly #ipv6: Prefixes<T>[] = [];
  /** Value for any address. */
  #any: Ranged<T> | undefined;

  /** Adds a value for any address; the first stays. */
  addAny(value: T): void {
    this.#any ??= { bits: -1, value };
  }

  /** Adds a value for a range as resources spell it; the first of a range stays. Other texts hold no address. */
  add(range: string, value: T): void {
    const cidr = parseCidr(range);
    if (cidr === undefined) return;
    const address = plainIp(cidr.address);
    const isMapped = address !== cidr.address && !address.includes(':');
    const bits = cidr.bits - (isMapped ? 96 : 0);
    if (bits < 0) return;
    const list = address.includes(':') ? this.#ipv6 : this.#ipv4;
    const key = maskedBits(bitsOf(address), bits);
    let prefixes = list.find((each) => each.bits === bits);
    if (prefixes === undefined) {
      prefixes = { bits, values: new Map() };
      list.push(prefixes);
      list.sort((a, b) => b.bits - a.bits);
    }
    if (!prefixes.values.has(key)) prefixes.values.set(key, { bits, value });
  }

  /** @param address without port and zone; IPv4 within IPv6 as IPv4 */
  find(address: string): Ranged<T> | undefined {
    const list = address.includes(':') ? this.#ipv6 : this.#ipv4;
    if (list.length > 0 && address !== '') {
      const bits = bitsOf(address);
      for (const prefixes of list) {
        const found = prefixes.values.get(maskedBits(bits, prefixes.bits));
        if (found !== undefined) return found;
      }
    }
    return this.#any;
  }
}

/** Returns the leading bits of an address, a text of zeros and ones. */
const maskedBits = (bits: string, length: number): string => bits.slice(0, length);

/** Returns the bits of an address, a text of zeros and ones. */
const bitsOf = (address: string): string =>
  [...ipBytes(address)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
