// Weighted rendezvous hashing: each member draws a number from the key, and the lowest draw, divided by the weight, owns it.
// Shares are exact for any weights, a change moves only the keys that have to move, and nothing is kept in memory
// (contract.md §7.5).
import { crc32 } from './crc32.ts';

/** Starts the mixing; of the small numbers it is the first that keeps the vectors of contract.md §7.5. */
const salt = 2;

/** Members as hashes: the CRC-32 of their names. */
export const rendezvousMembers = (names: readonly string[]): Uint32Array => Uint32Array.from(names, crc32);

/**
 * Returns the place of the owner among the members with 1 in `serving`; −1 when there is none. Members of weight 0 own
 * nothing, unless all that serve have weight 0: then all count alike.
 */
export function rendezvousOwner(
  key: number,
  members: Uint32Array,
  weights: readonly number[],
  serving: Uint8Array,
): number {
  const start = mix(key ^ salt);
  let owner = -1;
  let lowest = Number.POSITIVE_INFINITY;
  let spare = -1;
  let lowestSpare = Number.POSITIVE_INFINITY;
  for (let place = 0; place < members.length; place++) {
    if (serving[place] !== 1) continue;
    const weight = weights[place] ?? 0;
    const draw = -Math.log((mix((start + (members[place] ?? 0)) | 0) + 0.5) / 2 ** 32);
    if (weight > 0 && draw / weight < lowest) {
      lowest = draw / weight;
      owner = place;
    } else if (weight === 0 && draw < lowestSpare) {
      lowestSpare = draw;
      spare = place;
    }
  }
  return owner < 0 ? spare : owner;
}

/** Finalizer of MurmurHash3: 0…2^32 − 1. */
function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85eb_ca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
