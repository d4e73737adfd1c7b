// Preloaded into every thread of a Sluice under test (`LossyDisk` in lossy-disk.ts): makes what was not synced be lost
// when the process is killed, as it is when the power fails. SIGKILL alone loses nothing: the system keeps what was
// written. SLUICE_DISK is a directory of the test; SLUICE_DISK_LOSES says how:
// `batches`: a batch of LevelDB that is not synced waits in memory and reaches the file with the next one that is.
// `bytes`: all reaches the files; the test cuts off what was not synced.
// What is written through (O_DSYNC), as the journal of raft is, is synced when the write ends.
// Either way the file `notes` in the directory says how much waits, and how long each file was when it was synced last.
// What is written over earlier bytes (the witnesses) waits in memory until it is synced, too.
// While there is the file SLUICE_DISK_LIES, a sync says that it is done and is not.
import { appendFileSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { ClassicLevel } from 'classic-level';

const { SLUICE_DISK: directory, SLUICE_DISK_LOSES: loses, SLUICE_DISK_LIES: lie } = process.env;
const lies = () => existsSync(lie);
const note = (entry) => appendFileSync(join(directory, 'notes'), `${JSON.stringify(entry)}\n`);

const database = ClassicLevel.prototype;
const { _batch: batch } = database;
/** Operations that wait, by database. */
const heldBatches = new WeakMap();

database._batch = async function (operations, options) {
  const isSynced = options.sync === true && !lies();
  if (loses === 'bytes') {
    await batch.call(this, operations, options);
    if (isSynced) noteLog(this.location);
    return;
  }
  const held = heldBatches.get(this) ?? [];
  if (isSynced) {
    heldBatches.delete(this);
    await batch.call(this, held.concat(operations), options);
  } else {
    for (const operation of operations) held.push(operation);
    heldBatches.set(this, held);
  }
  if (held.length > 0) note({ path: this.location, held: isSynced ? 0 : held.length });
};

/** A synced batch is at the end of the newest log; it was the only one under way. LevelDB syncs no other log. */
function noteLog(location) {
  const logs = readdirSync(location).filter((name) => /^\d+\.log$/.test(name));
  const newest = join(location, logs.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).at(-1));
  note({ path: newest, length: statSync(newest).size });
}

for (const name of ['_get', '_getSync', '_getMany', '_has', '_hasMany', '_iterator', '_snapshot', 'compactRange']) {
  const read = database[name];
  database[name] = function (...args) {
    if (heldBatches.has(this)) throw new Error('a read would miss batches that are held');
    return read.apply(this, args);
  };
}

for (const name of ['_put', '_del', '_clear', '_chainedBatch']) {
  database[name] = () => {
    throw new Error(`${name} is not held`);
  };
}

const { open, rename, rm } = promises;
const probe = await open(directory);
const handle = Object.getPrototypeOf(probe);
await probe.close();
const { write, writev } = handle;
/** Paths by file handle. */
const paths = new WeakMap();
/** Handles whose writes are synced when they end. */
const writtenThrough = new WeakSet();
/** Unsynced writes by file handle and position. */
const heldWrites = new WeakMap();

promises.open = async (path, ...rest) => {
  const opened = await open(path, ...rest);
  paths.set(opened, String(path));
  if (typeof rest[0] === 'number' && (rest[0] & constants.O_DSYNC) === constants.O_DSYNC) writtenThrough.add(opened);
  // New, or emptied.
  const found = await opened.stat();
  if (found.isFile() && found.size === 0) note({ path: String(path), length: 0 });
  return opened;
};

promises.rename = async (from, to) => {
  await rename(from, to);
  note({ path: String(from), renamed: String(to) });
};

promises.rm = async (path, ...rest) => {
  await rm(path, ...rest);
  note({ path: String(path), removed: true });
};

handle.write = async function (buffer, offset, length, position) {
  const isOverwriting = basename(paths.get(this) ?? '') === 'WITNESS';
  if (!isOverwriting) return await write.call(this, buffer, offset, length, position);
  const held = heldWrites.get(this) ?? new Map();
  heldWrites.set(this, held.set(position, Buffer.from(buffer.subarray(offset, offset + length))));
  return { bytesWritten: length, buffer };
};

handle.writev = async function (buffers, position) {
  if (!writtenThrough.has(this)) return await writev.call(this, buffers, position);
  const held = heldWrites.get(this) ?? new Map();
  const bytes = Buffer.concat(buffers);
  heldWrites.set(this, held.set(position, bytes));
  if (!lies()) {
    heldWrites.delete(this);
    for (const [at, each] of held) await write.call(this, each, 0, each.length, at);
    note({ path: paths.get(this), length: (await this.stat()).size });
  }
  return { bytesWritten: bytes.length, buffers };
};

for (const name of ['sync', 'datasync']) {
  const sync = handle[name];
  handle[name] = async function () {
    if (lies()) return;
    const held = [...(heldWrites.get(this) ?? [])];
    heldWrites.delete(this);
    for (const [position, bytes] of held) await write.call(this, bytes, 0, bytes.length, position);
    const before = await this.stat();
    await sync.call(this);
    if (before.isFile()) note({ path: paths.get(this), length: before.size });
  };
}

syncBuiltinESMExports();
