// Journal of the log on disk: frames one behind the other in segments. Each segment begins with all that is not an
// entry, so that older ones can go. Segments are made ahead, full of zeros, so that a write into them does not make
// the file system note that the file grew; each write is durable when it ends (O_DSYNC).
import { constants } from 'node:fs';
import { type FileHandle, open, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateDirectory } from '../../../disk/directory.ts';
import { renameDurably, syncDirectory, withFile } from '../../../disk/durable-file.ts';
import { writeAll } from '../../../disk/write-all.ts';
import type { Index } from '../../core/types.ts';
import { indexOfEntry } from '../record-keys.ts';
import { encodeFrame, type Operation, readFrame } from './journal-frames.ts';
import { readSegments, segmentName } from './segments.ts';

/** Records known by now: value by key, keys as Latin-1 text. */
export type Records = ReadonlyMap<string, Buffer>;

export const nameOf = (key: Buffer): string => key.toString('latin1');

export interface JournalContents {
  readonly records: Records;
  readonly problems: readonly string[];
  readonly complaints: readonly string[];
}

export interface JournalOptions {
  readonly directory: string;
  /** Size of a segment that is made ahead, 8 MiB unless given. */
  readonly segmentBytes?: number;
}

const defaultSegmentBytes = 8 * 1024 * 1024;
/** A process that writes less than this makes no segment ahead. */
const quietBytes = 64 * 1024;
/**
 * Size at which a segment ends although no next one was made ahead, in segments: late, because the write that begins
 * the next one pays for it.
 */
const overdue = 4;
const partialName = 'ahead.partial';
/** 0 on systems that do not know it. */
const writesThrough = constants.O_DSYNC ?? 0;

interface OldSegment {
  readonly number: number;
  /** The highest entry in it; 0 when there is none. */
  readonly lastEntry: Index;
}

interface CurrentSegment {
  readonly number: number;
  file: FileHandle;
  isMadeAhead: boolean;
  /** Position of the last frame; its end when there is none. */
  lastFrame: number;
  end: number;
  lastEntry: Index;
}

/** One write at a time; between one that was rejected and the next, `undo`. */
export class Journal {
  readonly #directory: string;
  readonly #segmentBytes: number;
  /** All that is not an entry: what the next segment begins with. */
  readonly #singles = new Map<string, Buffer>();
  #old: OldSegment[] = [];
  #current: CurrentSegment | undefined;
  #ahead: Promise<FileHandle | undefined> | undefined;
  #made: FileHandle | undefined;
  /** No segment is made ahead while the current one ends before this: a disk that had no room is left alone. */
  #makeFrom = 0;
  #number = 0;
  #frame = 0;
  /** Last frame that was read; undefined where there is none. */
  #newest: { readonly segment: number; readonly start: number; readonly end: number } | undefined;
  /** Segments of earlier runs, with bytes behind their frames. */
  #untrimmed: { readonly number: number; readonly end: number }[] = [];
  #aside: Promise<unknown> = Promise.resolve();

  constructor({ directory, segmentBytes = defaultSegmentBytes }: JournalOptions) {
    this.#directory = directory;
    this.#segmentBytes = segmentBytes;
  }

  /** Reads all of it and changes nothing. */
  async read(): Promise<JournalContents> {
    const { segments, others, problems, complaints } = await readSegments(this.#directory);
    const records = new Map<string, Buffer>();
    this.#old = others.map((number) => ({ number, lastEntry: 0 }));
    for (const { number, frames, used, bytes } of segments) {
      let lastEntry = 0;
      for (const { operations } of frames) {
        for (const operation of operations) {
          const { key } = operation;
          lastEntry = Math.max(lastEntry, indexOfEntry(key) ?? 0);
          if (operation.type === 'del') records.delete(nameOf(key));
          else records.set(nameOf(key), operation.value);
        }
      }
      this.#old.push({ number, lastEntry });
      if (bytes > used) this.#untrimmed.push({ number, end: used });
      const last = frames.at(-1);
      if (last === undefined) continue;
      this.#frame = last.number;
      this.#newest = { segment: number, start: frames.at(-2)?.end ?? 0, end: last.end };
    }
    this.#number = Math.max(0, ...this.#old.map(({ number }) => number));
    for (const [name, value] of records) {
      if (indexOfEntry(Buffer.from(name, 'latin1')) === undefined) this.#singles.set(name, Buffer.from(value));
    }
    return { records, problems, complaints };
  }

  /**
   * Makes the last frame that was read durable. The process that wrote it may have ended before its write did: the frame is
   * read from memory of the system then, and may not be on the disk. All frames before it were durable when it was begun.
   */
  async settle(): Promise<void> {
    if (this.#newest === undefined) return;
    const { segment, start, end } = this.#newest;
    const file = await open(this.#pathOf(segment), constants.O_RDWR | writesThrough);
    try {
      await rewriteFrame(file, this.#frame, start, end);
    } finally {
      await file.close();
    }
  }

  /** Resolves when all of it, and all before it, survives a power loss. A rejected write may be made again after `undo`. */
  async write(operations: readonly Operation[]): Promise<void> {
    const { current, image } = await this.#segmentFor();
    const number = this.#frame + 1;
    const { pieces, bytes } = encodeFrame(number, [...image, ...operations]);
    await writeAll(current.file, pieces, current.end);
    if (writesThrough === 0) await current.file.datasync();
    for (const operation of operations) this.#note(current, operation);
    this.#frame = number;
    current.lastFrame = current.end;
    current.end += bytes;
    // The frame that follows elsewhere distinguishes the bytes behind an end from lost frames.
    for (const segment of this.#untrimmed.splice(0)) this.#later(() => this.#trim(segment));
    this.#makeAhead(current);
  }

  /**
   * Removes what a rejected write left behind the last frame, and writes that frame once more where it lies: the system may
   * have dropped pages that both share (raft.md P13). The file is opened anew for it: a handle may stay bad where the file is well
   * again, after a disk was mounted anew. Rejects while the disk does not take that.
   */
  async undo(): Promise<void> {
    const current = this.#current;
    if (current === undefined) return;
    await current.file.close().catch(() => undefined);
    current.file = await open(this.#pathOf(current.number), constants.O_RDWR | writesThrough);
    await current.file.truncate(current.end);
    current.isMadeAhead = false;
    if (current.lastFrame < current.end) await rewriteFrame(current.file, this.#frame, current.lastFrame, current.end);
    await current.file.sync();
  }

  /** Entries before `index` are needed no more: segments that hold no others go, the oldest first. */
  release(index: Index): void {
    while (this.#old[0] !== undefined && this.#old[0].lastEntry < index) {
      const [gone] = this.#old.splice(0, 1);
      if (gone !== undefined) this.#later(() => this.#remove(gone.number));
    }
  }

  /** Closes the journal. Segments made ahead are removed; a disk that refuses their removal loses nothing by it. */
  async close(): Promise<void> {
    const current = this.#current;
    const ahead = await this.#ahead;
    await current?.file.close();
    await ahead?.close();
    if (ahead !== undefined) this.#later(() => this.#remove(this.#number));
    if (current?.isMadeAhead === true) this.#later(() => this.#trim(current));
    await this.#aside;
  }

  #note(current: CurrentSegment, operation: Operation): void {
    const index = indexOfEntry(operation.key);
    const name = nameOf(operation.key);
    if (index !== undefined) current.lastEntry = Math.max(current.lastEntry, index);
    else if (operation.type === 'del') this.#singles.delete(name);
    else this.#singles.set(name, Buffer.concat(operation.value));
  }

  /** The one that this write goes to, and what has to come first in it where it is new. */
  async #segmentFor(): Promise<{ readonly current: CurrentSegment; readonly image: readonly Operation[] }> {
    const current = this.#current;
    if (current !== undefined && !this.#isFull(current)) {
      return { current, image: current.end === 0 ? this.#image() : [] };
    }
    const isMadeAhead = this.#made !== undefined;
    const file = this.#made ?? (await this.#newFile());
    const next = { number: this.#number, file, isMadeAhead, lastFrame: 0, end: 0, lastEntry: 0 };
    this.#makeFrom = 0;
    this.#made = undefined;
    this.#ahead = undefined;
    this.#current = next;
    if (current !== undefined) {
      this.#old.push(current);
      this.#later(async () => {
        await current.file.close();
        await this.#trim(current);
      });
    }
    return { current: next, image: this.#image() };
  }

  #isFull({ end, isMadeAhead }: CurrentSegment): boolean {
    if (this.#made !== undefined) return !isMadeAhead || end >= this.#segmentBytes;
    return this.#ahead === undefined && end >= overdue * this.#segmentBytes;
  }

  #image(): readonly Operation[] {
    return [...this.#singles].map(([name, value]) => ({
      type: 'put',
      key: Buffer.from(name, 'latin1'),
      value: [value],
    }));
  }

  /** The name of a file is durable before anything in it is relied on. */
  async #newFile(): Promise<FileHandle> {
    if (this.#current === undefined) await makePrivateDirectory(this.#directory);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | writesThrough;
    const file = await open(this.#pathOf(this.#number + 1), flags, 0o600);
    try {
      await syncDirectory(this.#directory);
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#number += 1;
    return file;
  }

  #makeAhead({ end, isMadeAhead }: CurrentSegment): void {
    if (this.#ahead !== undefined || end < this.#makeFrom) return;
    if (end < (isMadeAhead ? this.#segmentBytes / 2 : quietBytes)) return;
    this.#ahead = this.#make().then(
      (file) => {
        this.#made = file;
        return file;
      },
      // A disk that is full may take small writes for long yet. They go on where they are.
      () => {
        this.#makeFrom = end + this.#segmentBytes;
        this.#ahead = undefined;
        return undefined;
      },
    );
  }

  /** Makes a segment. It gets its number when it is complete: numbers have no gap. */
  async #make(): Promise<FileHandle> {
    const partial = join(this.#directory, partialName);
    try {
      await withFile(partial, 'w', async (file) => {
        for (let at = 0; at < this.#segmentBytes; at += zeros.length) await writeAll(file, [zeros], at);
        await file.sync();
      });
      await renameDurably(partial, this.#pathOf(this.#number + 1));
      const file = await open(this.#pathOf(this.#number + 1), constants.O_RDWR | writesThrough);
      this.#number += 1;
      return file;
    } catch (error) {
      await rm(partial, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  /** The zeros behind its end go. */
  async #trim({ number, end }: { readonly number: number; readonly end: number }): Promise<void> {
    await truncate(this.#pathOf(number), end);
  }

  async #remove(number: number): Promise<void> {
    await rm(this.#pathOf(number), { force: true });
    await syncDirectory(this.#directory);
  }

  /** Runs background work in order, without a waiter: a failure costs room and does no harm. */
  #later(run: () => Promise<void>): void {
    this.#aside = this.#aside.then(run).catch(() => undefined);
  }

  #pathOf(number: number): string {
    return join(this.#directory, segmentName(number));
  }
}

const zeros = Buffer.alloc(256 * 1024);

/** The frame is what was written there, or the disk has lost what was acknowledged. */
async function rewriteFrame(file: FileHandle, number: number, start: number, end: number): Promise<void> {
  const bytes = Buffer.alloc(end - start);
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  if (readFrame(bytes, 0)?.number !== number) throw new Error(`frame ${number} of the journal cannot be read back`);
  await writeAll(file, [bytes], start);
  if (writesThrough === 0) await file.datasync();
}
