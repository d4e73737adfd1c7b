// Buffer pool for large writes: a buffer is acquired for a write and released when the kernel has taken it, so that
// bodies of any size pass without a new buffer for each part.

/**
 * Buffers kept for later, 10 MiB at most: as many as the streams of one unread connection (128) can hold, since
 * further ones stay with the process until they are collected. A socket that closes keeps its buffers.
 */
const keptMax = 128;
const kept: Buffer[] = [];

/** Size of a buffer: room for the bytes of one read, and a head before them. */
export const pooledBytes = 80 * 1024;

export const acquire = (): Buffer => kept.pop() ?? Buffer.allocUnsafeSlow(pooledBytes);

/** Returns a buffer to the pool; it has no reader any more. */
export function release(buffer: Buffer): void {
  if (kept.length < keptMax) kept.push(buffer);
}
