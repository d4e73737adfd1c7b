// Looks through LevelDB's table files before LevelDB does. It does not verify the checksums of their blocks unless asked,
// classic-level offers no way to ask, and a damaged length in one ends the whole process in an assertion, traffic
// included. Format: that of LevelDB 1.20; the tables must be uncompressed.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { maskedCrc32c } from './crc32c.ts';
import { ifPresent } from './durable-file.ts';
import { liveTables } from './manifest.ts';
import { VarintReader } from './varint-reader.ts';

interface TableEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

const footerBytes = 48;
const trailerBytes = 5;
const tableMagic = 0xdb47_7524_8b80_fb57n;

/**
 * Problem of the first damaged table file of a database, `file … was changed (…)`; undefined for a sound or
 * absent one. Files that the manifest does not name are leftovers of a crash, half written perhaps: LevelDB removes them. Rejects
 * where the system does not let a file be read, for that may pass.
 */
export async function damagedTable(directory: string): Promise<string | undefined> {
  const live = await liveTables(directory);
  for (const name of await filesOf(directory)) {
    const number = /^(\d+)\.(?:ldb|sst)$/.exec(name)?.[1];
    if (number === undefined || !live.has(Number(number))) continue;
    // Gone since it was listed: another process is at work here, and holds the lock that comes next.
    const table = await ifPresent(readFile(join(directory, name)));
    if (table === undefined) continue;
    try {
      checkTable(table);
    } catch (error) {
      return `file ${name} was changed (${error instanceof Error ? error.message : error})`;
    }
  }
  return undefined;
}

async function filesOf(directory: string): Promise<string[]> {
  return ((await ifPresent(readdir(directory))) ?? []).sort();
}

/** Every block by its checksum: index and its data blocks, metaindex and its filter. */
function checkTable(table: Buffer): void {
  const handles = footerOf(table);
  for (const index of [soundBlock(table, handles), soundBlock(table, handles)]) {
    for (const { value: handle } of blockEntries(index)) soundBlock(table, new VarintReader(handle));
  }
}

/**
 * Entries of a table in its order, each block checked by its checksum. Keys are LevelDB's own, with sequence number and kind.
 * @throws {RangeError} when the table was changed
 */
export function* tableEntries(table: Buffer): Generator<TableEntry> {
  const handles = footerOf(table);
  soundBlock(table, handles);
  for (const { value: handle } of blockEntries(soundBlock(table, handles))) {
    yield* blockEntries(soundBlock(table, new VarintReader(handle)));
  }
}

/** Handles of the metaindex and of the index. */
function footerOf(table: Buffer): VarintReader {
  if (table.length < footerBytes) throw new RangeError('it is cut off');
  const footer = table.subarray(table.length - footerBytes);
  if (footer.readBigUInt64LE(footerBytes - 8) !== tableMagic) throw new RangeError('its footer is damaged');
  return new VarintReader(footer);
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
function* blockEntries(block: Buffer): Generator<TableEntry> {
  let key = Buffer.alloc(0);
  const restarts = block.readUInt32LE(block.length - 4);
  const entries = new VarintReader(block.subarray(0, block.length - 4 * (restarts + 1)));
  while (!entries.done) {
    const shared = entries.varint();
    const keyLength = entries.varint();
    const valueLength = entries.varint();
    key = Buffer.concat([key.subarray(0, shared), entries.take(keyLength)]);
    yield { key, value: entries.take(valueLength) };
  }
}
