// A process for tables-under-kill.test.ts: opens the log and the state's store of a directory, says how they fit, and
// writes to both as fast as it can until it is killed. Tables and segments are small, so that LevelDB flushes and compacts, and the log
// begins new files, all the time.
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { type Entry, emptyConfig, type Index } from '../../raft/core/types.ts';
import { DiskLogStore } from '../../raft/store/disk-log-store.ts';
import type { WriteBatch } from '../../raft/store/log-store.ts';
import { LevelStore } from '../../src/state/level-store.ts';

const writeBufferBytes = 512 * 1024;
const payloadBytes = 32 * 1024;
/** Entries that stay when the log is compacted, which it is each time it is twice as long. */
const keptEntries = 40;

const [directory = ''] = process.argv.slice(2);
const log = new DiskLogStore({
  ...{ directory: join(directory, 'raft'), nodeId: 'a', incarnation: () => 77, nowMs: () => 0 },
  segmentBytes: writeBufferBytes,
});
const { boot, verdict } = await log.open();
const state = await LevelStore.open(join(directory, 'state'), { writeBufferBytes, longBytes: payloadBytes });
const { base, entries } = boot;
let last = base.index + entries.length;
let applied = state.mark?.applied ?? 0;
tell(`${verdict.kind} ${last} ${applied}`);
// For the next one, which starts faster: this one will not end by itself.
flushCompileCache();

for (let kept = base.index; ; ) {
  last += 1;
  applied += 1;
  await write({ hardState: { term: 1, vote: undefined, commit: last - 1 }, entries: [entryAt(last)], sync: true });
  // Each third row has a file of its own.
  const value = new Uint8Array(payloadBytes + (last % 3 === 0 ? 1 : 0)).fill(last % 251);
  await state.write([{ key: `row ${last % keptEntries}`, value }], { applied, hash: '0'.repeat(16), boot: 1 });
  tell(`${last} ${applied}`);
  if (last - kept < 2 * keptEntries) continue;
  kept = last - keptEntries;
  await write({ checkpoint: checkpointAt(kept), compactTo: { index: kept, term: 1 }, sync: true });
}

/** Reports a write before the next one begins, so that every reported write was acknowledged. */
function tell(line: string): void {
  writeSync(1, `${line}\n`);
}

function entryAt(index: Index): Entry {
  return { kind: 'command', index, term: 1, time: 0, payload: new Uint8Array(payloadBytes).fill(index % 251) };
}

function checkpointAt(index: Index): NonNullable<WriteBatch['checkpoint']> {
  return { index, term: 1, time: 0, config: emptyConfig, file: `${index}`, size: 1, sha256: '00'.repeat(32) };
}

function write(batch: WriteBatch): Promise<void> {
  return new Promise((resolve, reject) => {
    log.write(batch, (failure) => (failure === undefined ? resolve() : reject(failure)));
  });
}
