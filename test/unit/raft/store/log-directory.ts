// Builders for tests on real log directories: temporary places, an opened store, entries and batches.
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { CheckpointMeta, Entry } from '../../../../raft/core/types.ts';
import { emptyConfig } from '../../../../raft/core/types.ts';
import { DiskLogStore } from '../../../../raft/store/disk-log-store.ts';
import type { OpenedLog, WriteBatch } from '../../../../raft/store/log-store.ts';

/** Calls `use` with an empty directory and removes it afterwards. */
export async function inDirectory<T>(use: (directory: string) => Promise<T>, parent = tmpdir()): Promise<T> {
  const directory = await mkdtemp(join(parent, 'raft-log-'));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export function storeIn(directory: string): DiskLogStore {
  return new DiskLogStore({ directory, nodeId: 'a', incarnation: () => 77, nowMs: () => 1_700_000_000_000 });
}

/** Opens, writes the batches one after the other, and closes. */
export async function writeLog(
  directory: string,
  batches: readonly WriteBatch[],
  { clean = true } = {},
): Promise<void> {
  const store = storeIn(directory);
  await store.open();
  for (const batch of batches) await write(store, batch);
  await store.close({ clean });
}

export function write(store: DiskLogStore, batch: WriteBatch): Promise<void> {
  return new Promise((resolve, reject) => {
    store.write(batch, (failure) => (failure === undefined ? resolve() : reject(failure)));
  });
}

/** Reads the log as a start does. Closes the store again without a clean mark. */
export async function reopen(directory: string): Promise<OpenedLog> {
  const store = storeIn(directory);
  try {
    return await store.open();
  } finally {
    await store.close({ clean: false });
  }
}

export function entriesFrom(first: number, count: number, term = 1): Entry[] {
  return Array.from({ length: count }, (_, n) => {
    const index = first + n;
    const payload = new Uint8Array(Buffer.from(`value ${index}`));
    return { kind: 'command', index, term, time: 1_700_000_000_000 + index, payload };
  });
}

export function appendBatch(first: number, count: number, { term = 1, commit = 0 } = {}): WriteBatch {
  return { hardState: { term, vote: 'a#77', commit }, entries: entriesFrom(first, count, term), sync: true };
}

export function checkpointAt(index: number, term = 1): CheckpointMeta {
  const place = { index, term, time: 1_700_000_000_000 };
  return { ...place, config: emptyConfig, file: `${index}.checkpoint`, size: 10, sha256: 'ab'.repeat(32) };
}

export async function copyOf<T>(directory: string, use: (copy: string) => Promise<T>, parent = tmpdir()): Promise<T> {
  return inDirectory(async (copy) => {
    await cp(directory, copy, { recursive: true });
    return use(copy);
  }, parent);
}

/** Returns the path of a directory's journal; the newest file that holds frames. */
export async function journalFile(directory: string): Promise<string> {
  const journal = join(directory, 'journal');
  return join(journal, (await readdir(journal)).sort().at(-1) ?? '');
}
