// Checkpoint files of one simulated disk, with what a file system may forget: bytes that were not synced, and names
// whose directory was not. The bytes only have a length and a pattern; what a file means is found by its hash in the
// world's library. Does step by step what raft/store/checkpoint-directory.ts does, under the same names.
import type { CheckpointMeta } from '../../core/types.ts';
import { checkpointName, partialPath, unwantedCheckpoints } from '../../store/checkpoint-files.ts';
import type { CheckpointCollector, CheckpointReader, CheckpointStore } from '../../store/checkpoint-store.ts';
import type { Chance } from './chance.ts';
import type { DiskOperation, DiskOperations } from './disk-operations.ts';

export type Later = (ms: number, run: () => void) => void;

interface SimFile {
  readonly sha256: string;
  readonly size: number;
  written: number;
  isSynced: boolean;
}

type Named = Pick<CheckpointMeta, 'index' | 'term' | 'sha256' | 'size'>;

const partialSuffix = '.partial';

export class CheckpointShelf {
  readonly #operations: DiskOperations;
  /** As a process sees them. */
  #names = new Map<string, SimFile>();
  /** As they are when the power goes. */
  #durable = new Map<string, SimFile>();
  #labels = 0;

  constructor(operations: DiskOperations) {
    this.#operations = operations;
  }

  /** Names of finished files. */
  get files(): string[] {
    return [...this.#names.keys()].filter((name) => !name.endsWith(partialSuffix));
  }

  /** A whole file is there, and would be after a power loss: perhaps the one that it took the place of. */
  holds({ file, sha256 }: Pick<CheckpointMeta, 'file' | 'sha256'>): boolean {
    return isSound(this.#names.get(file), sha256) && isSound(this.#durable.get(file), sha256);
  }

  /** Unsynced names and bytes go, or with `chance` some of them. */
  losePower(chance: Chance | undefined): void {
    if (!chance?.happens(0.5)) this.#names = new Map(this.#durable);
    for (const file of this.#names.values()) {
      if (!file.isSynced) file.written = chance === undefined ? 0 : chance.integer(0, file.written);
      file.isSynced = true;
    }
    this.#durable = new Map(this.#names);
  }

  /** Removes the partial files of the last life; a start does this before anything else. */
  removePartials(): boolean {
    const partials = [...this.#names.keys()].filter((name) => name.endsWith(partialSuffix));
    return (
      partials.every((name) => this.#do('remove', () => this.#names.delete(name))) &&
      this.#do('syncDirectory', this.#sync)
    );
  }

  readonly #sync = (): void => {
    this.#durable = new Map(this.#names);
  };

  #do(kind: DiskOperation, land: () => void): boolean {
    return this.#operations.perform(kind, land);
  }

  /** The files as a process uses them; callbacks of an ended process never run. */
  open(later: Later): CheckpointStore {
    const pins = new Map<string, number>();
    return {
      read: (meta) => this.#read(meta, later, pins),
      collect: (meta) => this.#collect(meta, later),
      prune: (keep) => {
        const names = keep.map(({ file }) => file);
        later(0.1, () => this.#removeNext(unwantedCheckpoints(this.files, new Set(names)), pins, later));
      },
    };
  }

  #removeNext([name, ...rest]: readonly string[], pins: ReadonlyMap<string, number>, later: Later): void {
    if (name === undefined) return;
    if (!pins.get(name)) {
      const isDone = this.#do('remove', () => this.#names.delete(name)) && this.#do('syncDirectory', this.#sync);
      if (!isDone) return;
    }
    later(0.1, () => this.#removeNext(rest, pins, later));
  }

  #read(meta: CheckpointMeta, later: Later, pins: Map<string, number>): CheckpointReader {
    let isOpen = true;
    pins.set(meta.file, (pins.get(meta.file) ?? 0) + 1);
    return {
      read: (offset, length, done) => {
        later(0.2, () =>
          done(isSound(this.#names.get(meta.file), meta.sha256) ? content(meta.sha256, offset, length) : undefined),
        );
      },
      close: () => {
        if (isOpen) pins.set(meta.file, (pins.get(meta.file) ?? 1) - 1);
        isOpen = false;
      },
    };
  }

  /** Writes a checkpoint of this node's own; undefined when it can't be. */
  write(meta: Named, later: Later, done: (file: string) => void): void {
    const partial = this.#newPartial('written');
    const file = { ...meta, written: 0, isSynced: false };
    if (!this.#do('create', () => this.#names.set(partial, file))) return;
    later(19, () => {
      const isWritten = this.#do('write', () => {
        file.written = file.size;
      });
      if (isWritten) this.#finish(partial, meta, later, done);
    });
  }

  #newPartial(label: string): string {
    this.#labels += 1;
    return partialPath('', `${label}-${this.#labels}`);
  }

  /** Syncs, renames, syncs the directory, in this order; the file is reported only after the last step. */
  #finish(partial: string, meta: Named, later: Later, done: (file: string) => void): void {
    const name = checkpointName(meta.index, meta.term);
    later(0.4, () => {
      if (!this.#do('sync', () => this.#syncFile(partial))) return;
      later(0.3, () => {
        if (!this.#do('rename', () => this.#rename(partial, name))) return;
        later(0.3, () => {
          if (this.#do('syncDirectory', this.#sync)) done(name);
        });
      });
    });
  }

  #syncFile(name: string): void {
    const file = this.#names.get(name);
    if (file !== undefined) file.isSynced = true;
  }

  #rename(from: string, to: string): void {
    const file = this.#names.get(from);
    if (file === undefined) return;
    this.#names.delete(from);
    this.#names.set(to, file);
  }

  #collect(meta: CheckpointMeta, later: Later): CheckpointCollector {
    const partial = this.#newPartial('incoming');
    const file: SimFile = { sha256: meta.sha256, size: meta.size, written: 0, isSynced: false };
    this.#do('create', () => this.#names.set(partial, file));
    return {
      get held() {
        return file.written;
      },
      append: (data, done) => {
        later(0.3, () => {
          const ok = matches(data, content(meta.sha256, file.written, data.length));
          const isDone = this.#do('write', () => {
            file.written += ok ? data.length : 0;
            file.isSynced = false;
          });
          if (isDone) done(ok && this.#names.get(partial) === file);
        });
      },
      finish: (done) => {
        if (isComplete(file)) this.#finish(partial, meta, later, (name) => done(this.#named(meta, name)));
        else later(1, () => done(undefined));
      },
      discard: () => {
        this.#do('remove', () => this.#names.delete(partial));
      },
    };
  }

  /** Undefined when the partial file was given up while it was being finished. */
  #named(meta: CheckpointMeta, file: string): CheckpointMeta | undefined {
    return isSound(this.#names.get(file), meta.sha256) ? { ...meta, file } : undefined;
  }
}

function isComplete({ written, size }: SimFile): boolean {
  return written === size;
}

function isSound(file: SimFile | undefined, sha256: string): boolean {
  return file !== undefined && isComplete(file) && file.isSynced && file.sha256 === sha256;
}

function content(sha256: string, offset: number, length: number): Uint8Array {
  const start = sha256.charCodeAt(0) + sha256.charCodeAt(sha256.length - 1);
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 1) bytes[at] = start + offset + at;
  return bytes;
}

function matches(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
