// The store on disk: LevelDB through classic-level, one directory per generation, and the witness in the same directory.
// LevelDB makes a new database where its CURRENT file is missing and deletes the rest; so this looks first.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { makePrivateDirectory } from '../../disk/directory.ts';
import { codeOf } from '../../disk/durable-file.ts';
import { damagedTable } from '../../disk/table-check.ts';
import { inSlices } from './slices.ts';
import { type Change, type Mark, type Store, StoreDamaged, type StoreImage, StoreInUse } from './store.ts';
import { readWitness, Witness, witnessName } from './witness.ts';

type Database = ClassicLevel<string, Uint8Array>;

const defaultWriteBufferBytes = 16 * 1024 * 1024;
const readAheadBytes = 1024 * 1024;
/** What one turn hands to LevelDB; more takes several. */
const turnRows = 4_096;
const turnBytes = 2 * 1024 * 1024;
const unmarked: Mark = { applied: 0, hash: '0'.repeat(16), boot: 0 };

/** `<storePath>/state/<generation>` (architecture.md §7). */
export const generationDirectory = (storePath: string, generation: number): string =>
  join(storePath, 'state', String(generation));

export class LevelStore implements Store {
  readonly place: string;
  readonly mark: Mark | undefined;
  readonly #database: Database;
  readonly #witness: Witness;
  /** The mark of the write before. */
  #marked: Promise<void> = Promise.resolve();

  private constructor(place: string, mark: Mark | undefined, database: Database, witness: Witness) {
    this.place = place;
    this.mark = mark;
    this.#database = database;
    this.#witness = witness;
  }

  /**
   * Makes the directory when it is missing. LevelDB makes a table of `writeBufferBytes` of writes, 16 MiB unless given.
   * @throws {StoreInUse} when another process, or another handle of this one, has it open
   * @throws {StoreDamaged} when LevelDB cannot read its files or the witness is not readable
   */
  static async open(directory: string, writeBufferBytes = defaultWriteBufferBytes): Promise<LevelStore> {
    await makePrivateDirectory(directory);
    const witnessed = await readWitness(directory);
    if (witnessed === 'unreadable') throw new StoreDamaged(directory, `its file ${witnessName} is not readable`);
    const mark = witnessed === 'missing' ? undefined : witnessed;
    const createIfMissing = await mayCreate(directory, mark);
    const damaged = createIfMissing ? undefined : await damagedTable(directory);
    if (damaged !== undefined) throw new StoreDamaged(directory, `its ${damaged}`);
    const database = await openDatabase(directory, { createIfMissing, writeBufferSize: writeBufferBytes });
    try {
      return new LevelStore(directory, mark, database, await Witness.open(directory, unmarked));
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  async *rows(): AsyncGenerator<readonly [string, Uint8Array]> {
    try {
      yield* this.#database.iterator({ highWaterMarkBytes: readAheadBytes, fillCache: false });
    } catch (cause) {
      throw new StoreDamaged(this.place, reasonOf(cause), { cause });
    }
  }

  image(): StoreImage {
    const snapshot = this.#database.snapshot();
    return {
      get: (key) => this.#database.get(key, { snapshot }),
      rows: () => this.#database.iterator({ snapshot, highWaterMarkBytes: readAheadBytes, fillCache: false }),
      close: () => snapshot.close(),
    };
  }

  async write(changes: readonly Change[], mark: Mark): Promise<void> {
    await this.#marked;
    if (isLarge(changes)) await this.#writeInTurns(changes);
    else await this.#database.batch(changes.map(operationOf), { sync: true });
    this.#marked = this.#witness.write(mark);
    this.#marked.catch(() => undefined);
  }

  /** One batch all the same. LevelDB's binding copies each row twice, on this thread, into memory that is new to the process. */
  async #writeInTurns(changes: readonly Change[]): Promise<void> {
    const batch = this.#database.batch();
    try {
      await inSlices(filled(batch, changes));
      await batch.write({ sync: true });
    } finally {
      await batch.close();
    }
  }

  async compact(): Promise<void> {
    await this.#database.compactRange('\u0000', '\u{10ffff}');
  }

  async close(): Promise<void> {
    await this.#database.close();
    await this.#marked.catch(() => undefined);
    await this.#witness.close();
  }
}

type Batch = ReturnType<Database['batch']>;

function* filled(batch: Pick<Batch, 'put' | 'del'>, changes: readonly Change[]): Generator<void, void> {
  for (const { key, value } of changes) {
    if (value === undefined) batch.del(key);
    else batch.put(key, value);
    yield;
  }
}

const operationOf = ({ key, value }: Change) =>
  value === undefined ? ({ type: 'del', key } as const) : ({ type: 'put', key, value } as const);

/** Whether turns help: one row is handed over in one piece. */
function isLarge(changes: readonly Change[]): boolean {
  let bytes = 0;
  let longest = 0;
  for (const { value } of changes) {
    const length = value?.length ?? 0;
    bytes += length;
    longest = Math.max(longest, length);
  }
  return changes.length > turnRows || bytes - longest > turnBytes;
}

/** True for a directory that never held rows. LevelDB writes CURRENT before its first row. */
async function mayCreate(directory: string, mark: Mark | undefined): Promise<boolean> {
  const names = await readdir(directory);
  if (names.includes('CURRENT')) return false;
  const leftover = names.find((name) => /\.(ldb|sst|log)$/.test(name));
  if (leftover === undefined && (mark === undefined || mark.boot === 0)) return true;
  throw new StoreDamaged(directory, 'its file CURRENT is missing');
}

async function openDatabase(
  directory: string,
  options: { readonly createIfMissing: boolean; readonly writeBufferSize: number },
): Promise<Database> {
  const database = new ClassicLevel<string, Uint8Array>(directory, {
    keyEncoding: 'utf8',
    valueEncoding: 'view',
    compression: false,
    ...options,
  });
  try {
    await database.open();
    return database;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (codeOf(cause) === 'LEVEL_LOCKED') throw new StoreInUse(directory, { cause });
    if (/permission denied|no space left|too many open files|read-only file system/i.test(reasonOf(cause))) {
      throw new Error(reasonOf(cause), { cause });
    }
    throw new StoreDamaged(directory, reasonOf(cause), { cause });
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
