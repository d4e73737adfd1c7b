// Checkpoint files: the state machine's image at one index (raft.md A11). The program above raft writes them with
// `writeCheckpoint` and reads them with `readCheckpoint`; checkpoint-directory.ts sends, receives and prunes them.
// A file has its final name only when it is whole, synced and was read back.
// Layout: magic 'SLCK' · version u8 · index u64 · term u64 · crc32 u32 of these · content, opaque to raft.
import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { makePrivateDirectory } from '../../disk/directory.ts';
import { renameDurably, syncDirectory, withFile } from '../../disk/durable-file.ts';
import type { CheckpointMeta } from '../core/types.ts';

/** Part of a meta that the file itself holds. Size and SHA-256 (lower-case hex) are those of the whole file. */
export type CheckpointFile = Pick<CheckpointMeta, 'index' | 'term' | 'file' | 'size' | 'sha256'>;

export interface CheckpointContent {
  /** Index and term of the last entry that the content includes. */
  readonly index: number;
  readonly term: number;
  /** Produced in slices, so that writing never keeps the thread for long. */
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const magic = Buffer.from('SLCK');
const formatVersion = 1;
const headBytes = 25;
const sliceBytes = 256 * 1024;
const suffix = '.checkpoint';
const partialSuffix = '.partial';

/** `00000000000000000042-7.checkpoint`: the order of names is the order of indexes. */
export function checkpointName(index: number, term: number): string {
  return `${String(index).padStart(20, '0')}-${term}${suffix}`;
}

/** Path of a file while it grows, before it gets its name; `label` tells writers apart. */
export function partialPath(directory: string, label: string): string {
  return join(directory, `${label}${partialSuffix}`);
}

/**
 * Writes, syncs, re-reads and names a checkpoint, replacing one of the same index and term. Rejects with the error
 * of the disk, or when what was read back is not what was written; nothing is left behind then.
 */
export async function writeCheckpoint(directory: string, from: CheckpointContent): Promise<CheckpointFile> {
  await makePrivateDirectory(directory);
  const partial = partialPath(directory, `written-${process.hrtime.bigint()}`);
  try {
    const sha256 = await withFile(partial, 'w', (file) => writeContent(file, from));
    return await installCheckpoint(directory, partial, { index: from.index, term: from.term, sha256 });
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeContent(file: FileHandle, { index, term, content }: CheckpointContent): Promise<string> {
  const hash = createHash('sha256');
  const write = async (bytes: Uint8Array) => {
    hash.update(bytes);
    await file.writeFile(bytes);
  };
  await write(encodeHead(index, term));
  for await (const slice of content) await write(slice);
  await file.sync();
  return hash.digest('hex');
}

/**
 * Checks a finished partial file against what it is meant to be, syncs it and gives it its name; rejects otherwise.
 * A crash at any moment leaves under the name either nothing or the whole file.
 */
export async function installCheckpoint(
  directory: string,
  partial: string,
  expected: Pick<CheckpointFile, 'index' | 'term' | 'sha256'>,
): Promise<CheckpointFile> {
  await withFile(partial, 'r', (file) => file.sync());
  await verifyCheckpoint(partial, expected);
  const { size } = await withFile(partial, 'r', (file) => file.stat());
  const { index, term, sha256 } = expected;
  const file = checkpointName(index, term);
  await renameDurably(partial, join(directory, file));
  return { index, term, file, size, sha256 };
}

/** Reads the whole file; rejects, saying why, unless head and SHA-256 are as expected. */
export async function verifyCheckpoint(
  path: string,
  expected: Pick<CheckpointFile, 'index' | 'term' | 'sha256'>,
): Promise<void> {
  await withFile(path, 'r', async (file) => {
    const hash = createHash('sha256');
    const head = await read(file, 0, headBytes);
    if (!head.equals(encodeHead(expected.index, expected.term))) throw new Error(`${path} has a wrong or damaged head`);
    hash.update(head);
    for await (const slice of slices(file, headBytes)) hash.update(slice);
    if (hash.digest('hex') !== expected.sha256) throw new Error(`${path} is damaged: its SHA-256 differs`);
  });
}

/** The content of a checkpoint in slices, for the program above raft; the file is verified before the first. */
export async function* readCheckpoint(directory: string, meta: CheckpointFile): AsyncGenerator<Uint8Array> {
  const path = join(directory, meta.file);
  await verifyCheckpoint(path, meta);
  const file = await open(path, 'r');
  try {
    yield* slices(file, headBytes);
  } finally {
    await file.close();
  }
}

/** Names of finished checkpoints, newest first. */
export async function listCheckpoints(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => name.endsWith(suffix))
    .sort()
    .reverse();
}

/**
 * Returns those of these finished checkpoints that may go: older than all that `keep` names. A newer one may have got
 * its name a moment ago, and be in no record yet.
 */
export function unwantedCheckpoints(names: readonly string[], keep: ReadonlySet<string>): string[] {
  const [oldest] = [...keep].sort();
  return oldest === undefined ? [] : names.filter((name) => name < oldest);
}

/** Removes what a crash left unfinished. Only before any writer or transfer has begun. */
export async function removePartials(directory: string): Promise<void> {
  await makePrivateDirectory(directory);
  const names = await readdir(directory);
  for (const name of names.filter((each) => each.endsWith(partialSuffix))) await rm(join(directory, name));
  await syncDirectory(directory);
}

function encodeHead(index: number, term: number): Buffer {
  const head = Buffer.alloc(headBytes);
  magic.copy(head);
  head.writeUInt8(formatVersion, 4);
  head.writeBigUInt64BE(BigInt(index), 5);
  head.writeBigUInt64BE(BigInt(term), 13);
  head.writeUInt32BE(crc32(head.subarray(0, 21)), 21);
  return head;
}

async function* slices(file: FileHandle, from: number): AsyncGenerator<Buffer> {
  for (let at = from; ; ) {
    const slice = await read(file, at, sliceBytes);
    if (slice.length === 0) return;
    at += slice.length;
    yield slice;
  }
}

/** Up to `length` bytes; fewer only at the end of the file. */
export async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, at, length - at, position + at);
    at += bytesRead;
    if (bytesRead === 0 || at === length) return bytes.subarray(0, at);
  }
}
