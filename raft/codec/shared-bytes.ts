// Memory for the bytes of a large command: several threads read it and none writes it any more, so it crosses between them
// without being copied, and the log keeps it as well.

/** Smaller ones are copied: that costs less than memory of their own. */
export const sharedBytesMin = 64 * 1024;

export function newSharedBytes(length: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(length));
}

export const isShared = ({ buffer, length }: Uint8Array): boolean =>
  length >= sharedBytesMin && buffer instanceof SharedArrayBuffer;
