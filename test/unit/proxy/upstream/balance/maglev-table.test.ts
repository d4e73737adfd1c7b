// Tables of MAGLEV against their definition (contract.md §7.6), slot by slot.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { built } from '../../../../../src/proxy/upstream/balance/hash-ring.ts';
import { type MaglevMember, MaglevTable } from '../../../../../src/proxy/upstream/balance/maglev-table.ts';

/** Owners by the definition: each member walks its order from the beginning to its next free slot. */
function defined(members: readonly MaglevMember[], size: number): readonly number[] {
  const owners: number[] = new Array(size).fill(-1);
  const heaviest = Math.max(1, ...members.map(({ weight }) => weight));
  const steps = members.map(() => 0);
  const orders = members.map(({ name }) => {
    const digest = createHash('md5').update(name).digest();
    const offset = Number(digest.readBigUInt64LE(0) % BigInt(size));
    return { offset, skip: Number(digest.readBigUInt64LE(8) % BigInt(size - 1)) + 1 };
  });
  const slotOf = (place: number): number => {
    const { offset = 0, skip = 0 } = orders[place] ?? {};
    return (offset + (steps[place] ?? 0) * skip) % size;
  };
  for (let round = 1, left = size; left > 0; round++) {
    for (const [place, { weight }] of members.entries()) {
      const isDue = Math.floor((round * weight) / heaviest) > Math.floor(((round - 1) * weight) / heaviest);
      if (!isDue || left === 0) continue;
      while (owners[slotOf(place)] !== -1) steps[place] = (steps[place] ?? 0) + 1;
      owners[slotOf(place)] = place;
      left--;
    }
  }
  return owners;
}

describe('a table of MAGLEV', () => {
  for (const size of [3, 5, 31, 97, 1_009, 4_099]) {
    for (const count of [1, 2, 3, 7, 50]) {
      it(`of ${size} slots has the owners of its definition for ${count} endpoints`, () => {
        for (const weightOf of [() => 1, (at: number) => 1 + (at % 4)]) {
          const members = Array.from({ length: count }, (_, at) => ({ name: `10.0.0.${at}:80`, weight: weightOf(at) }));
          const table = built(MaglevTable.build(members, size));
          const serving = new Uint8Array(count).fill(1);
          const owners = Array.from({ length: size }, (_, slot) => table.owner(slot, serving));
          expect(owners).to.deep.equal(defined(members, size));
        }
      });
    }
  }
});
