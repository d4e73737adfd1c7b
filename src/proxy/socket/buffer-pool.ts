// Buffers for what leaves in large writes, used again and again: one is lent for a write and comes back when the system
// has taken it, so that bodies of any size pass without a new buffer for each part.

/**
 * The most that is kept for later, 10 MiB: as many as the streams of one connection that nobody reads (128) can have, for what
 * is beyond stays with the process until the collector comes by. A socket that closes keeps what it was lent.
 */
const keptMax = 128;
const kept: Buffer[] = [];

/** Room for whatever one read brings, and a head before it. */
export const lentBytes = 80 * 1024;

export const lend = (): Buffer => kept.pop() ?? Buffer.allocUnsafeSlow(lentBytes);

/** Nobody looks at the buffer any more. */
export function giveBack(buffer: Buffer): void {
  if (kept.length < keptMax) kept.push(buffer);
}
