// Looks through LevelDB's table files before LevelDB does. It does not verify the checksums of their blocks unless asked,
// classic-level offers no way to ask, and a damaged length in one ends the whole process in an assertion, traffic
// included. Format: that of LevelDB 1.20; the tables must be uncompressed.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { maskedCrc32c } from './crc32c.ts';
import { isMissing } from './durable-file.ts';
import { liveTables } from './manifest.ts';
import { VarintReader } from './varint-reader.ts';

const footerBytes = 48;
const trailerBytes = 5;
const tableMagic = 0xdb47_7524_8b80_fb57n;

/**
 * What is wrong with the first damaged table file of a database, `file … was changed (…)`; undefined for a sound or
 * absent one. Files that the manifest does not name are leftovers of a crash, half written perhaps: LevelDB removes them.
 */
export async function damagedTable(directory: string): Promise<string | undefined> {
  const live = await liveTables(directory);
  for (const name of await filesOf(directory)) {
    const number = /^(\d+)\.(?:ldb|sst)$/.exec(name)?.[1];
    if (number === undefined || !live.has(Number(number))) continue;
    try {
      checkTable(await readFile(join(directory, name)));
    } catch (error) {
      // Gone since it was listed: another process is at work here, and holds the lock that comes next.
      if (isMissing(error)) continue;
      return `file ${name} was changed (${error instanceof Error ? error.message : error})`;
    }
  }
  return undefined;
}

async function filesOf(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Every block by its checksum: index and its data blocks, metaindex and its filter. */
function checkTable(table: Buffer): void {
  if (table.length < footerBytes) throw new RangeError('it is cut off');
  const footer = table.subarray(table.length - footerBytes);
  if (footer.readBigUInt64LE(footerBytes - 8) !== tableMagic) throw new RangeError('its footer is damaged');
  const handles = new VarintReader(footer);
  for (const index of [soundBlock(table, handles), soundBlock(table, handles)]) {
    for (const handle of blockValues(index)) soundBlock(table, new VarintReader(handle));
  }
}

/** The block at `offset, size`, which is followed by its type and checksum. */
function soundBlock(table: Buffer, handle: VarintReader): Buffer {
  const offset = handle.varint();
  const end = offset + handle.varint();
  if (end + trailerBytes > table.length) throw new RangeError('a block reaches past the end');
  const sound = maskedCrc32c(table.subarray(offset, end + 1)) === table.readUInt32LE(end + 1);
  if (!sound || table.readUInt8(end) !== 0) throw new RangeError(`checksum at offset ${offset}`);
  return table.subarray(offset, end);
}

/** Entries are `shared length, own length, value length, own key part, value`; restart points follow. */
function* blockValues(block: Buffer): Generator<Buffer> {
  const restarts = block.readUInt32LE(block.length - 4);
  const entries = new VarintReader(block.subarray(0, block.length - 4 * (restarts + 1)));
  while (!entries.done) {
    entries.varint();
    const keyLength = entries.varint();
    const valueLength = entries.varint();
    entries.take(keyLength);
    yield entries.take(valueLength);
  }
}
