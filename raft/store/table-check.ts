// Checks the blocks of LevelDB's table files before LevelDB reads them. It does not verify them itself, and a damaged
// one can end the whole process in an assertion, traffic included; found by this check it only costs the verdict.
// File layout (LevelDB table format): blocks, each followed by type u8 and masked CRC-32C u32; a 48-byte footer with
// the handles of the metaindex and the index block. Integers are little-endian, handles are pairs of varints.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { crc32c } from '../codec/crc32c.ts';
import { isMissing } from './durable-file.ts';

interface Handle {
  readonly offset: number;
  readonly size: number;
}

const footerBytes = 48;
const trailerBytes = 5;
const magic = 0xdb47_7524_8b80_fb57n;
const maskDelta = 0xa282_ead8;

/** One sentence for each damaged file; none for a sound or absent database. The tables must be uncompressed. */
export async function checkTables(databaseDirectory: string): Promise<string[]> {
  const faults: string[] = [];
  for (const name of await tablesIn(databaseDirectory)) {
    const fault = checkTable(await readFile(join(databaseDirectory, name)));
    if (fault !== undefined) faults.push(`table ${name}: ${fault}`);
  }
  return faults;
}

async function tablesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => /\.(ldb|sst)$/.test(name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function checkTable(file: Buffer): string | undefined {
  if (file.length < footerBytes) return 'cut short';
  const footer = file.subarray(file.length - footerBytes);
  if (footer.readBigUInt64LE(footerBytes - 8) !== magic) return 'footer is damaged';
  const handles = new VarintReader(footer);
  for (const root of [handles.handle(), handles.handle()]) {
    const block = readBlock(file, root);
    if (typeof block === 'string') return block;
    for (const leaf of handlesIn(block)) {
      const inner = readBlock(file, leaf);
      if (typeof inner === 'string') return inner;
    }
  }
  return undefined;
}

/** The bytes of a block whose checksum fits, or what is wrong with it. */
function readBlock(file: Buffer, { offset, size }: Handle): Buffer | string {
  const end = offset + size;
  if (!(end + trailerBytes <= file.length - footerBytes)) return `block at ${offset} lies outside`;
  const masked = file.readUInt32LE(end + 1);
  const rotated = (masked - maskDelta) >>> 0;
  const expected = ((rotated >>> 17) | (rotated << 15)) >>> 0;
  if (crc32c(file.subarray(offset, end + 1)) !== expected) return `block at ${offset} is damaged`;
  return file[end] === 0 ? file.subarray(offset, end) : `block at ${offset} is compressed`;
}

/** Index and metaindex blocks hold keys with handles as values. Their checksum was checked: the layout can be trusted. */
function handlesIn(block: Buffer): Handle[] {
  const restarts = block.readUInt32LE(block.length - 4);
  const end = block.length - 4 - 4 * restarts;
  const handles: Handle[] = [];
  const reader = new VarintReader(block);
  while (reader.at < end) {
    reader.next();
    const keyBytes = reader.next();
    const valueBytes = reader.next();
    const valueAt = reader.at + keyBytes;
    handles.push(new VarintReader(block, valueAt).handle());
    reader.at = valueAt + valueBytes;
  }
  return handles;
}

class VarintReader {
  at: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** NaN past the end; values of this format stay far below 2^53. */
  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.at++] ?? Number.NaN;
      value += (byte & 127) * scale;
      if (Number.isNaN(byte)) return byte;
      if (byte < 128) return value;
    }
  }

  handle(): Handle {
    return { offset: this.next(), size: this.next() };
  }
}
