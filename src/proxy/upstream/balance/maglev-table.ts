// The look-up table of MAGLEV (contract.md §7.6): every endpoint has an order of its own over the slots, and they take
// their next free one in turn. Built in steps, for a table may have millions of slots.
import { createHash } from 'node:crypto';
import { FreeSlots, type SlotOrder } from './free-slots.ts';

export interface MaglevMember {
  /** `host:port`. */
  readonly name: string;
  readonly weight: number;
}

const stepProbes = 8_192;

export class MaglevTable {
  readonly #owners: Int32Array;

  private constructor(owners: Int32Array) {
    this.#owners = owners;
  }

  /** Owners are places in `members`, of which there is at least one; `size` is a prime. */
  static *build(members: readonly MaglevMember[], size: number): Generator<void, MaglevTable> {
    const owners = new Int32Array(size);
    const slots = new FreeSlots(size);
    const orders = members.map(({ name }) => orderOf(name, size));
    const weightMax = members.reduce((max, { weight }) => Math.max(max, weight), 1);
    let filled = 0;
    let probes = 0;
    for (let round = 1; ; round++) {
      for (let place = 0; place < orders.length; place++) {
        const order = orders[place] as SlotOrder;
        // One turn a round for the heaviest, and for the others in proportion to their weight.
        const weight = members[place]?.weight ?? 1;
        if (Math.floor((round * weight) / weightMax) === Math.floor(((round - 1) * weight) / weightMax)) continue;
        if (size - filled > slots.searchedMax) {
          while (slots.isTaken(order.slot)) {
            order.slot += order.skip;
            if (order.slot >= size) order.slot -= size;
            if (++probes % stepProbes === 0) yield;
          }
        } else {
          order.slot = slots.nextIn(order);
          yield;
        }
        slots.take(order.slot);
        owners[order.slot] = place;
        if (++filled === size) return new MaglevTable(owners);
      }
      if (round % 256 === 0) yield;
    }
  }

  /** Returns the owner of the key's slot, or of the next slot whose owner is 1 in `serving`; −1 when there is none. */
  owner(key: number, serving: Uint8Array): number {
    const owners = this.#owners;
    const size = owners.length;
    let slot = key % size;
    for (let walked = 0; walked < size; walked++) {
      const owner = owners[slot] ?? 0;
      if (serving[owner] === 1) return owner;
      if (++slot === size) slot = 0;
    }
    return -1;
  }
}

function orderOf(name: string, size: number): SlotOrder {
  const digest = createHash('md5').update(name, 'latin1').digest();
  const slot = Number(digest.readBigUInt64LE(0) % BigInt(size));
  return { slot, skip: Number(digest.readBigUInt64LE(8) % BigInt(size - 1)) + 1 };
}
