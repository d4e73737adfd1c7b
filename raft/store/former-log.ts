// The LevelDB database that logs lay in before they had a journal. It stays as the lock of the directory, for the system
// knows of no other that a process leaves behind when it ends; what an earlier version left in it goes over at start.
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { damagedTable } from '../../disk/table-check.ts';
import { nameOf, type Records } from './journal/journal.ts';
import type { Operation } from './journal/journal-frames.ts';
import { readComplaints } from './leveldb-complaints.ts';

export interface FormerContents {
  readonly records: Records;
  readonly complaints: readonly string[];
}

export class FormerLog {
  readonly #location: string;
  #database: ClassicLevel<Buffer, Buffer> | undefined;

  constructor(directory: string) {
    this.#location = join(directory, 'log');
  }

  /** Rejects with `cause.code` LEVEL_LOCKED when another process has it. Tables are checked first: LevelDB ends the process over damaged ones. */
  async open(): Promise<void> {
    const damaged = await damagedTable(this.#location);
    if (damaged !== undefined) throw new Error(damaged);
    // The constructor begins to open: nothing that must come before may come after it.
    const options = { compression: false, keyEncoding: 'buffer', valueEncoding: 'buffer' } as const;
    this.#database = new ClassicLevel(this.#location, options);
    await this.#database.open().catch((error: unknown) => {
      const cause = error instanceof Error ? error.cause : undefined;
      throw new Error(cause instanceof Error ? cause.message : String(error), { cause });
    });
  }

  /** Reads the former log. Complaints of LevelDB count only where there are records. */
  async read(): Promise<FormerContents> {
    const records = new Map<string, Buffer>();
    for await (const [key, value] of this.#opened().iterator()) records.set(nameOf(key), value);
    return { records, complaints: await readComplaints(this.#location) };
  }

  /** Removes the former log once all of it lies in the journal. */
  async clear(): Promise<void> {
    await this.#opened().clear();
  }

  async close(): Promise<void> {
    await this.#database?.close();
  }

  #opened(): ClassicLevel<Buffer, Buffer> {
    if (this.#database === undefined) throw new Error('the log is not open');
    return this.#database;
  }
}

/** All of it, to be written into the journal in one frame. */
export function carriedOver(records: Records): readonly Operation[] {
  return [...records].map(([name, value]) => ({ type: 'put', key: Buffer.from(name, 'latin1'), value: [value] }));
}
