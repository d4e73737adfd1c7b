// Position of a client, or a proxy, among all of them for one rollout (fleet.md §7): every node and proxy computes the
// same.
import { hash } from 'node:crypto';

/** From 0 up to 1: the first eight bytes of SHA-256 over seed, a zero byte and value. `value` has one character per byte. */
export function bucketOf(seed: string, value: string): number {
  const digest = hash('sha256', Buffer.from(`${seed}\0${value}`, 'latin1'), 'buffer');
  return (digest.readUInt32BE(0) * 2 ** 32 + digest.readUInt32BE(4)) / 2 ** 64;
}
