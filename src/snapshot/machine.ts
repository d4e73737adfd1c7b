// The machine that secret sources read from: this process's environment and its files.
import { constants, type FileHandle, open, realpath } from 'node:fs/promises';
import type { Machine } from './secret-sources.ts';

export const thisMachine: Machine = {
  env: process.env,
  realpath: (path) => realpath(path),
  async readFile(path, maxBytes) {
    // Without O_NONBLOCK, opening a pipe that has no writer would never return.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return await readRegular(file, maxBytes);
    } finally {
      await file.close();
    }
  },
};

async function readRegular(file: FileHandle, maxBytes: number): Promise<Uint8Array> {
  if (!(await file.stat()).isFile()) throw new Error('not a regular file');
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    length += bytesRead;
    if (length > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
    if (bytesRead === 0) return buffer.subarray(0, length);
  }
}
