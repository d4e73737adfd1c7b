// Long rows of a store, each in a file of its own: LevelDB would copy one twice on the main thread and write it three
// times, to its log, to a table and to the next one (docs/decisions/long-rows.md). A file is synced before a row of
// LevelDB refers to it, and is never written again; one that nothing refers to is what a crash has left.
import { readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makePrivateDirectory } from '../../disk/directory.ts';
import { ifPresent, syncDirectory, withFile } from '../../disk/durable-file.ts';

/** Number of a file, never given twice while a store is open. */
export type FileNumber = number;

export class LongRowFiles {
  readonly #directory: string;
  #isMade: boolean;
  #last: FileNumber;
  /** Files that nothing refers to any more, and that may still be read. */
  #outdated: FileNumber[];
  #readers = 0;

  private constructor(directory: string, isMade: boolean, numbers: readonly FileNumber[], outdated: FileNumber[]) {
    this.#directory = directory;
    this.#isMade = isMade;
    this.#last = Math.max(0, ...numbers);
    this.#outdated = outdated;
  }

  /** Opens the files. Nothing is removed before the first `retire`: until then the store was not checked. */
  static async open(directory: string, referredTo: ReadonlySet<FileNumber>): Promise<LongRowFiles> {
    const names = await ifPresent(readdir(directory));
    const numbers = (names ?? []).filter((name) => /^\d+$/.test(name)).map(Number);
    const outdated = numbers.filter((number) => !referredTo.has(number));
    return new LongRowFiles(directory, names !== undefined, [...numbers, ...referredTo], outdated);
  }

  /** Whole and on disk when it resolves; to be referred to by its number. */
  async write(parts: readonly Uint8Array[]): Promise<FileNumber> {
    if (!this.#isMade) {
      await makePrivateDirectory(this.#directory);
      await syncDirectory(dirname(this.#directory));
      this.#isMade = true;
    }
    this.#last += 1;
    const number = this.#last;
    try {
      await withFile(this.#pathOf(number), 'wx', async (file) => {
        await file.writeFile(parts);
        await file.sync();
      });
      await syncDirectory(this.#directory);
    } catch (error) {
      // A file that was half written to a full disk is of no use.
      await rm(this.#pathOf(number), { force: true }).catch(() => undefined);
      throw error;
    }
    return number;
  }

  /** Undefined when there is no such file. */
  read(number: FileNumber): Promise<Buffer | undefined> {
    return ifPresent(readFile(this.#pathOf(number)));
  }

  /** Removes files that no row refers to any more, as soon as no reader is left. */
  async retire(numbers: readonly FileNumber[]): Promise<void> {
    this.#outdated.push(...numbers);
    await this.#removeOutdated();
  }

  /** Begins a read of the files referred to at this moment; the returned function ends it. */
  reader(): () => Promise<void> {
    this.#readers += 1;
    let isOver = false;
    return async () => {
      if (isOver) return;
      isOver = true;
      this.#readers -= 1;
      await this.#removeOutdated();
    };
  }

  async #removeOutdated(): Promise<void> {
    if (this.#readers > 0 || this.#outdated.length === 0) return;
    const numbers = this.#outdated;
    this.#outdated = [];
    for (const number of numbers) await rm(this.#pathOf(number), { force: true });
  }

  #pathOf(number: FileNumber): string {
    return join(this.#directory, String(number));
  }
}
