// Memory of kept bodies in a worker: its part of 16 MiB of the process. Bodies longer than a block take blocks of one size, which
// are used again: memory that is taken from the system for each response, and given back, costs more than the comparison.

/** Bytes of all kept bodies of a process. */
const processBytesMax = 16 << 20;
/** Bytes of a block. */
export const blockBytes = 64 << 10;
/** Blocks that wait for another body. */
const idleMax = 32;

const memory = { bytes: 0, max: processBytesMax };
const idle: Buffer[] = [];

/** Gives this worker its part of the memory of the process. */
export function shareKeptBytes(workers: number): void {
  memory.max = Math.floor(processBytesMax / workers);
  idle.length = 0;
}

/** Returns the memory of all kept bodies of this worker. */
export const allKeptBytes = (): number => memory.bytes;

/** Takes memory of at most a block; undefined when there is none. */
export function takeBytes(size: number): Buffer | undefined {
  if (memory.bytes + size > memory.max) return undefined;
  memory.bytes += size;
  const block = size === blockBytes ? idle.pop() : undefined;
  while (idle.length > 0 && memory.bytes + idle.length * blockBytes > memory.max) idle.pop();
  return block ?? Buffer.allocUnsafeSlow(size);
}

export function giveBytes(bytes: Buffer): void {
  memory.bytes -= bytes.length;
  const isSpare = idle.length < idleMax && memory.bytes + (idle.length + 1) * blockBytes <= memory.max;
  if (bytes.length === blockBytes && isSpare) idle.push(bytes);
}
