// LevelDB's manifest: a log of edits that says which table files a database consists of. Formats: those of
// LevelDB 1.20.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { maskedCrc32c } from './crc32c.ts';
import { isMissing, isOfSystem } from './durable-file.ts';
import { VarintReader } from './varint-reader.ts';

const logBlockBytes = 32_768;
const logHeaderBytes = 7;

interface Manifest {
  /** Numbers of the table files. */
  readonly tables: Set<number>;
  /** Number of the oldest write-ahead file that is not in a table. */
  firstLog: number;
}

/** Rejects with the system's error, or RangeError, when it cannot be read. */
export async function manifestOf(directory: string): Promise<Manifest> {
  const manifest: Manifest = { tables: new Set(), firstLog: 0 };
  const name = (await readFile(join(directory, 'CURRENT'), 'utf8')).trim();
  if (!/^MANIFEST-\d+$/.test(name)) throw new RangeError('the file CURRENT names no manifest');
  for (const record of logRecords(await readFile(join(directory, name)))) applyEdit(new VarintReader(record), manifest);
  return manifest;
}

/**
 * Numbers of the table files that the manifest refers to. A crash during a flush or a compaction leaves others behind. Rejects where
 * the system does not let it be read.
 */
export async function liveTables(directory: string): Promise<Set<number>> {
  try {
    return (await manifestOf(directory)).tables;
  } catch (error) {
    if (isOfSystem(error) && !isMissing(error)) throw error;
    // A manifest that is missing or damaged is LevelDB's to refuse: it verifies this file.
    return new Set();
  }
}

/** Whole records of a manifest or a write-ahead file, up to the first that is not sound. */
export function* logRecords(log: Buffer): Generator<Buffer> {
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

function applyEdit(edit: VarintReader, manifest: Manifest): void {
  const { tables: live } = manifest;
  while (!edit.done) {
    const tag = edit.varint();
    switch (tag) {
      case 1: // comparator
        edit.take(edit.varint());
        break;
      case 2: // log number
        manifest.firstLog = edit.varint();
        break;
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
