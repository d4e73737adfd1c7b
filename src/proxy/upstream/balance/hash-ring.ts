// A ring of virtual nodes (contract.md §7.5, §7.6): node i of a member has the hash of `<name>:<i>`, a key belongs to
// the first node at or behind it. Built once per set of members, in steps, for a ring may have millions of nodes.
import { crcContinue, crcContinueDecimal, crcEnd, crcStart } from './crc32.ts';

export interface RingMember {
  readonly name: string;
  readonly nodes: number;
}

const stepNodes = 8_192;

export class HashRing {
  readonly #hashes: Uint32Array;
  readonly #owners: Uint32Array;

  private constructor(hashes: Uint32Array, owners: Uint32Array) {
    this.#hashes = hashes;
    this.#owners = owners;
  }

  /** Yields now and then, so that others have their turn. Owners are places in `members`. */
  static *build(members: readonly RingMember[]): Generator<void, HashRing> {
    const count = members.reduce((sum, { nodes }) => sum + nodes, 0);
    const hashes = new Uint32Array(count);
    const owners = new Uint32Array(count);
    // Equal hashes are in the order of names, then of nodes: the sort that follows keeps it.
    const order = members.map((_, place) => place).sort((a, b) => compare(members[a]?.name, members[b]?.name));
    let at = 0;
    for (const place of order) {
      const { name = '', nodes = 0 } = members[place] ?? {};
      const start = crcContinue(crcStart, `${name}:`);
      for (let node = 0; node < nodes; node++, at++) {
        hashes[at] = crcEnd(crcContinueDecimal(start, node));
        owners[at] = place;
        if (at % stepNodes === stepNodes - 1) yield;
      }
    }
    const sorted = yield* radixSort(hashes, owners);
    return new HashRing(sorted.hashes, sorted.owners);
  }

  /** Place of the node that has the key, to walk on from; the ring has at least one. */
  #find(key: number): number {
    const hashes = this.#hashes;
    let low = 0;
    let high = hashes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((hashes[middle] ?? 0) < key) low = middle + 1;
      else high = middle;
    }
    return low === hashes.length ? 0 : low;
  }

  /** Returns the first owner at or behind the key that is 1 in `serving`; −1 when there is none. */
  owner(key: number, serving: Uint8Array): number {
    const owners = this.#owners;
    const size = owners.length;
    if (size === 0) return -1;
    let place = this.#find(key);
    for (let walked = 0; walked < size; walked++) {
      const owner = owners[place] ?? 0;
      if (serving[owner] === 1) return owner;
      if (++place === size) place = 0;
    }
    return -1;
  }
}

/** Runs to the end at once. */
export function built<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const compare = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

interface Nodes {
  readonly hashes: Uint32Array;
  readonly owners: Uint32Array;
}

/** By hash, equal ones in their order; eleven bits at a time. */
function* radixSort(hashes: Uint32Array, owners: Uint32Array): Generator<void, Nodes> {
  let from: Nodes = { hashes, owners };
  let to: Nodes = { hashes: new Uint32Array(hashes.length), owners: new Uint32Array(owners.length) };
  for (let shift = 0; shift < 32; shift += 11) {
    const starts = new Uint32Array(2_049);
    for (let i = 0; i < hashes.length; i++) {
      const digit = ((from.hashes[i] ?? 0) >>> shift) & 2_047;
      starts[digit + 1] = (starts[digit + 1] ?? 0) + 1;
      if (i % stepNodes === stepNodes - 1) yield;
    }
    for (let digit = 0; digit < 2_048; digit++) starts[digit + 1] = (starts[digit + 1] ?? 0) + (starts[digit] ?? 0);
    for (let i = 0; i < hashes.length; i++) {
      const hash = from.hashes[i] ?? 0;
      const digit = (hash >>> shift) & 2_047;
      const place = starts[digit] ?? 0;
      starts[digit] = place + 1;
      to.hashes[place] = hash;
      to.owners[place] = from.owners[i] ?? 0;
      if (i % stepNodes === stepNodes - 1) yield;
    }
    [from, to] = [to, from];
  }
  return from;
}
