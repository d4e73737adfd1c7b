// Looks through LevelDB's table files before LevelDB does. It does not verify the checksums of their blocks unless asked,
// classic-level offers no way to ask, and a damaged length in one makes it abort the process. Formats: LevelDB's
// doc/table_format.md, doc/log_format.md and version_edit.cc, release 1.20.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ByteReader, maskedCrc32c } from './byte-reader.ts';

const logBlockBytes = 32_768;
const logHeaderBytes = 7;
const footerBytes = 48;
const trailerBytes = 5;
const tableMagic = 0xdb4775248b80fb57n;

/** What is wrong with the table files that the store refers to, if something is. */
export async function damagedTable(directory: string): Promise<string | undefined> {
  const live = await liveTables(directory);
  for (const name of (await readdir(directory)).sort()) {
    const number = /^(\d+)\.(?:ldb|sst)$/.exec(name)?.[1];
    if (number === undefined || !live.has(Number(number))) continue;
    try {
      checkTable(await readFile(join(directory, name)));
    } catch (error) {
      // Gone since it was listed: another process is at work here, and holds the lock that comes next.
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') continue;
      return `its file ${name} was changed (${error instanceof Error ? error.message : error})`;
    }
  }
  return undefined;
}

/** File numbers that the manifest refers to; a crash during compaction leaves others behind, half written. */
async function liveTables(directory: string): Promise<Set<number>> {
  const live = new Set<number>();
  try {
    const manifest = (await readFile(join(directory, 'CURRENT'), 'utf8')).trim();
    for (const record of logRecords(await readFile(join(directory, manifest)))) applyEdit(new ByteReader(record), live);
  } catch {
    // A manifest that cannot be read is LevelDB's to refuse: it verifies this file.
  }
  return live;
}

/** Whole records up to the first that is not sound, as LevelDB reads a manifest. */
function* logRecords(log: Buffer): Generator<Buffer> {
  let parts: Buffer[] = [];
  for (let at = 0; at + logHeaderBytes <= log.length; ) {
    const left = logBlockBytes - (at % logBlockBytes);
    if (left < logHeaderBytes) {
      at += left;
      continue;
    }
    const end = at + logHeaderBytes + log.readUInt16LE(at + 4);
    const type = log.readUInt8(at + 6);
    if (end > log.length || maskedCrc32c(log.subarray(at + 6, end)) !== log.readUInt32LE(at)) return;
    parts.push(log.subarray(at + logHeaderBytes, end));
    // 1: whole, 2: first, 3: middle, 4: last.
    if (type === 1 || type === 4) {
      yield Buffer.concat(parts);
      parts = [];
    }
    at = end;
  }
}

function applyEdit(edit: ByteReader, live: Set<number>): void {
  while (!edit.done) {
    const tag = edit.varint();
    switch (tag) {
      case 1: // comparator
        edit.take(edit.varint());
        break;
      case 2: // log number
      case 3: // next file number
      case 4: // last sequence
      case 9: // previous log number
        edit.varint();
        break;
      case 5: // compaction pointer: level, key
        edit.varint();
        edit.take(edit.varint());
        break;
      case 6: // deleted file: level, number
        edit.varint();
        live.delete(edit.varint());
        break;
      case 7: // new file: level, number, size, smallest key, largest key
        edit.varint();
        live.add(edit.varint());
        edit.varint();
        edit.take(edit.varint());
        edit.take(edit.varint());
        break;
      default:
        throw new RangeError(`unknown tag ${tag}`);
    }
  }
}

/** Every block by its checksum: index and its data blocks, metaindex and its filter. */
function checkTable(table: Buffer): void {
  if (table.length < footerBytes) throw new RangeError('it is cut off');
  const footer = table.subarray(table.length - footerBytes);
  if (footer.readBigUInt64LE(footerBytes - 8) !== tableMagic) throw new RangeError('its footer is damaged');
  const handles = new ByteReader(footer);
  for (const index of [soundBlock(table, handles), soundBlock(table, handles)]) {
    for (const handle of blockValues(index)) soundBlock(table, new ByteReader(handle));
  }
}

/** The block at `offset, size`, which is followed by its type and checksum. Sluice writes without compression. */
function soundBlock(table: Buffer, handle: ByteReader): Buffer {
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
  const entries = new ByteReader(block.subarray(0, block.length - 4 * (restarts + 1)));
  while (!entries.done) {
    entries.varint();
    const keyLength = entries.varint();
    const valueLength = entries.varint();
    entries.take(keyLength);
    yield entries.take(valueLength);
  }
}
