// The CheckpointStore of the product: files below `raft/checkpoints/`. A file is verified before its first byte is
// sent; what is received grows in one partial file and resumes where it stopped when the same checkpoint is offered
// again, by whichever leader.
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDurably, withFile } from '../../disk/durable-file.ts';
import { writeAll } from '../../disk/write-all.ts';
import type { CheckpointMeta } from '../core/types.ts';
import {
  installCheckpoint,
  listCheckpoints,
  partialPath,
  read,
  unwantedCheckpoints,
  verifyCheckpoint,
} from './checkpoint-files.ts';
import type { CheckpointCollector, CheckpointReader, CheckpointStore } from './checkpoint-store.ts';

export class CheckpointDirectory implements CheckpointStore {
  readonly #directory: string;
  readonly #pins = new Map<string, number>();
  readonly #failed: (error: unknown) => void;
  #incoming: Incoming | undefined;
  #pruning: Promise<void> = Promise.resolve();
  /** Transfers that were given up and still have a file open. */
  #ending: Promise<unknown> = Promise.resolve();

  /** @param failed called with the error of files that could not be removed; nothing else depends on that. */
  constructor(directory: string, failed: (error: unknown) => void) {
    this.#directory = directory;
    this.#failed = failed;
  }

  read(meta: CheckpointMeta): CheckpointReader {
    this.#pins.set(meta.file, (this.#pins.get(meta.file) ?? 0) + 1);
    return new Outgoing(join(this.#directory, meta.file), meta, () => this.#unpin(meta.file));
  }

  collect(meta: CheckpointMeta): CheckpointCollector {
    if (this.#incoming?.takes(meta)) return this.#incoming;
    this.#giveUp();
    this.#incoming = new Incoming(this.#directory, meta);
    return this.#incoming;
  }

  #giveUp(): void {
    this.#incoming?.discard();
    this.#ending = Promise.all([this.#ending, this.#incoming?.closed()]);
    this.#incoming = undefined;
  }

  prune(keep: readonly CheckpointMeta[]): void {
    const names = new Set(keep.map((meta) => meta.file));
    this.#pruning = this.#pruning.then(() => this.#remove(names)).catch(this.#failed);
  }

  /** Gives up an unfinished transfer and resolves once no file is written, named or removed any more. */
  async close(): Promise<void> {
    this.#giveUp();
    await this.#ending;
    await this.#pruning;
  }

  /** Removes all files but those to keep. A file whose transfer began since the listing stays too. */
  async #remove(keep: ReadonlySet<string>): Promise<void> {
    for (const name of unwantedCheckpoints(await listCheckpoints(this.#directory), keep))
      if (!this.#pins.has(name)) await removeDurably(join(this.#directory, name));
  }

  #unpin(file: string): void {
    const left = (this.#pins.get(file) ?? 1) - 1;
    if (left === 0) this.#pins.delete(file);
    else this.#pins.set(file, left);
  }
}

class Outgoing implements CheckpointReader {
  readonly #path: string;
  readonly #verified: Promise<void>;
  readonly #unpin: () => void;
  #closed = false;

  constructor(path: string, meta: CheckpointMeta, unpin: () => void) {
    this.#path = path;
    this.#unpin = unpin;
    this.#verified = verifyCheckpoint(path, meta);
    this.#verified.catch(() => {
      // Each read below sees the same rejection and answers for it.
    });
  }

  read(offset: number, length: number, done: (data: Uint8Array | undefined) => void): void {
    const piece = this.#verified.then(() => withFile(this.#path, 'r', (file) => read(file, offset, length)));
    piece.then(done, () => done(undefined));
  }

  close(): void {
    if (!this.#closed) this.#unpin();
    this.#closed = true;
  }
}

/** One checkpoint on its way in. Operations on its file run one after the other, in the order of the calls. */
class Incoming implements CheckpointCollector {
  readonly #directory: string;
  readonly #meta: CheckpointMeta;
  readonly #path: string;
  #file: Promise<FileHandle>;
  #removed: Promise<void> | undefined;
  #finished: Promise<unknown> | undefined;
  #held = 0;
  #ended = false;

  constructor(directory: string, meta: CheckpointMeta) {
    this.#directory = directory;
    this.#meta = meta;
    this.#path = partialPath(directory, `incoming-${process.hrtime.bigint()}`);
    this.#file = open(this.#path, 'wx', 0o600);
    this.#file.catch(() => {
      // The first append answers for it.
    });
  }

  get held(): number {
    return this.#held;
  }

  /** Returns whether this is the same file, still being collected. The sender's name for it does not matter. */
  takes({ index, term, size, sha256 }: CheckpointMeta): boolean {
    const mine = this.#meta;
    const same = mine.index === index && mine.term === term && mine.size === size && mine.sha256 === sha256;
    return same && !this.#ended;
  }

  append(data: Uint8Array, done: (ok: boolean) => void): void {
    const position = this.#held;
    if (this.#ended || position + data.length > this.#meta.size) {
      queueMicrotask(() => done(false));
      return;
    }
    this.#held += data.length;
    this.#file = this.#file.then(async (file) => {
      await writeAll(file, [data], position);
      return file;
    });
    this.#file.then(
      () => done(true),
      () => {
        this.#ended = true;
        done(false);
      },
    );
  }

  finish(done: (meta: CheckpointMeta | undefined) => void): void {
    this.#finished = this.#finish().then(done, () => {
      this.discard();
      done(undefined);
    });
  }

  async #finish(): Promise<CheckpointMeta> {
    this.#ended = true;
    const file = await this.#file;
    await file.close();
    const { file: name } = await installCheckpoint(this.#directory, this.#path, this.#meta);
    return { ...this.#meta, file: name };
  }

  discard(): void {
    this.#ended = true;
    this.#removed ??= this.#file
      .then(closeQuietly)
      .finally(() => rm(this.#path, { force: true }))
      .catch(() => {
        // A partial file that stays is removed at the next start.
      });
  }

  /** Nothing is done to its files any more: a `finish` under way has ended too. */
  async closed(): Promise<void> {
    await this.#finished;
    await this.#removed;
  }
}

/** A handle that `finish` has closed already is as good as closed now. */
async function closeQuietly(file: FileHandle): Promise<void> {
  if (file.fd !== -1) await file.close();
}
