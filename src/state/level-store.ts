// The store on disk: LevelDB through classic-level, one directory per generation; the witness in the same directory, long
// rows in one below it.
// LevelDB makes a new database where its CURRENT file is missing and deletes the rest; so this looks first.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { makePrivateDirectory } from '../../disk/directory.ts';
import { codeOf } from '../../disk/durable-file.ts';
import { damagedTable } from '../../disk/table-check.ts';
import { inSlices } from '../util/time-slice.ts';
import { type FileNumber, LongRowFiles } from './long-row-files.ts';
import {
  type Change,
  inOnePiece,
  type Mark,
  partsOf,
  type RowBytes,
  type Store,
  StoreDamaged,
  type StoreImage,
  StoreInUse,
} from './store.ts';
import { readWitness, Witness, witnessName } from './store-witness.ts';

type Database = ClassicLevel<string, Uint8Array>;

/** The present, or a moment of LevelDB's. */
interface View {
  readonly snapshot?: ReturnType<Database['snapshot']>;
}

interface Sizes {
  /** Bytes of writes of which LevelDB makes a table. */
  readonly writeBufferBytes: number;
  /** A row that is longer has a file of its own. */
  readonly longBytes: number;
}

const productSizes: Sizes = { writeBufferBytes: 16 * 1024 * 1024, longBytes: 1024 * 1024 };

interface Parts {
  readonly mark: Mark | undefined;
  readonly database: Database;
  readonly witness: Witness;
  readonly longRows: LongRowFiles;
  readonly files: Map<string, FileNumber>;
}

interface Operation {
  readonly key: string;
  /** Undefined: the row goes. */
  readonly value: Uint8Array | undefined;
}

/** A row that is in another file from now on, or in none. */
interface Move {
  readonly key: string;
  readonly number: FileNumber | undefined;
}

interface Placed {
  readonly operations: readonly Operation[];
  readonly moves: readonly Move[];
}

const readAheadBytes = 1024 * 1024;
/** Rows that one turn hands to LevelDB; more take several turns. */
const turnRows = 4_096;
const turnBytes = 2 * 1024 * 1024;
/** Before the key of a long row stands this; what LevelDB keeps there is the number of its file. No other key begins so. */
const reference = '\u0000';
const behindReferences = '\u0001';
const unmarked: Mark = { applied: 0, hash: '0'.repeat(16), boot: 0 };

/** `<storePath>/state/<generation>` (architecture.md §7). */
export const generationDirectory = (storePath: string, generation: number): string =>
  join(storePath, 'state', String(generation));

export class LevelStore implements Store {
  readonly place: string;
  readonly mark: Mark | undefined;
  readonly #sizes: Sizes;
  #database: Database;
  #witness: Witness;
  #longRows: LongRowFiles;
  /** Keys of long rows with the numbers of their files, as of the last write. */
  #files: Map<string, FileNumber>;
  /** The mark of the write before. */
  #marked: Promise<void> = Promise.resolve();

  private constructor(place: string, sizes: Sizes, { mark, database, witness, longRows, files }: Parts) {
    this.place = place;
    this.mark = mark;
    this.#sizes = sizes;
    this.#database = database;
    this.#witness = witness;
    this.#longRows = longRows;
    this.#files = files;
  }

  /**
   * Makes the directory when it is missing.
   * @throws {StoreInUse} when another process, or another handle of this one, has it open
   * @throws {StoreDamaged} when LevelDB cannot read its files or the witness is not readable
   */
  static async open(directory: string, sizes: Partial<Sizes> = {}): Promise<LevelStore> {
    const all = { ...productSizes, ...sizes };
    await makePrivateDirectory(directory);
    return new LevelStore(directory, all, await openParts(directory, all));
  }

  rows(): AsyncIterable<readonly [string, Uint8Array]> {
    return this.#rowsOf({});
  }

  image(): StoreImage {
    const snapshot = this.#database.snapshot();
    const closeReader = this.#longRows.reader();
    return {
      get: async (key) => (await this.#database.get(key, { snapshot })) ?? (await this.#longRow(key, { snapshot })),
      rows: () => this.#rowsOf({ snapshot }),
      close: async () => {
        await snapshot.close();
        await closeReader();
      },
    };
  }

  async write(changes: readonly Change[], mark: Mark): Promise<void> {
    await this.#marked;
    const { operations, moves } = await this.#placed(changes);
    if (isLarge(operations)) await this.#writeInTurns(operations);
    else await this.#database.batch(operations.map(operationOf), { sync: true });
    await this.#longRows.retire(this.#moved(moves));
    this.#marked = this.#witness.write(mark);
    this.#marked.catch(() => undefined);
  }

  async *#rowsOf(view: View): AsyncGenerator<readonly [string, Uint8Array]> {
    const options = { ...view, highWaterMarkBytes: readAheadBytes, fillCache: false };
    try {
      let from = behindReferences;
      for (const [key, number] of await filesOf(this.#database, this.place, view)) {
        yield* this.#database.iterator({ ...options, gte: from, lt: key });
        yield [key, await this.#contentOf(number)];
        from = key;
      }
      yield* this.#database.iterator({ ...options, gte: from });
    } catch (cause) {
      if (cause instanceof StoreDamaged) throw cause;
      throw new StoreDamaged(this.place, reasonOf(cause), { cause });
    }
  }

  async #longRow(key: string, view: View): Promise<Uint8Array | undefined> {
    const number = (await filesOf(this.#database, this.place, view)).get(key);
    return number === undefined ? undefined : await this.#contentOf(number);
  }

  async #contentOf(number: FileNumber): Promise<Uint8Array> {
    const content = await this.#longRows.read(number);
    if (content === undefined) throw new StoreDamaged(this.place, `its file long/${number} is missing`);
    return content;
  }

  /** Returns the rows for LevelDB, once the long rows among the changes are on disk. */
  async #placed(changes: readonly Change[]): Promise<Placed> {
    const operations: Operation[] = [];
    const moves: Move[] = [];
    for (const { key, value } of changes) {
      if (value !== undefined && lengthOf(value) > this.#sizes.longBytes) {
        const number = await this.#longRows.write(partsOf(value));
        operations.push({ key, value: undefined }, { key: reference + key, value: Buffer.from(String(number)) });
        moves.push({ key, number });
        continue;
      }
      operations.push({ key, value: value && inOnePiece(value) });
      if (!this.#files.has(key) && !moves.some((move) => move.key === key)) continue;
      operations.push({ key: reference + key, value: undefined });
      moves.push({ key, number: undefined });
    }
    return { operations, moves };
  }

  /** Gives the numbers of the files that nothing refers to any more. */
  #moved(moves: readonly Move[]): FileNumber[] {
    const former: FileNumber[] = [];
    for (const { key, number } of moves) {
      const before = this.#files.get(key);
      if (before !== undefined) former.push(before);
      if (number === undefined) this.#files.delete(key);
      else this.#files.set(key, number);
    }
    return former;
  }

  /** One batch all the same. LevelDB's binding copies each row twice, on this thread, into memory that is new to the process. */
  async #writeInTurns(operations: readonly Operation[]): Promise<void> {
    const batch = this.#database.batch();
    try {
      await inSlices(filled(batch, operations));
      await batch.write({ sync: true });
    } finally {
      await batch.close();
    }
  }

  async reopen(): Promise<void> {
    await this.#marked.catch(() => undefined);
    await this.#witness.close().catch(() => undefined);
    await this.#database.close();
    const { database, witness, longRows, files } = await openParts(this.place, this.#sizes);
    this.#database = database;
    this.#witness = witness;
    this.#longRows = longRows;
    this.#files = files;
    this.#marked = Promise.resolve();
  }

  async compact(): Promise<void> {
    await this.#database.compactRange('\u0000', '\u{10ffff}');
  }

  async close(): Promise<void> {
    await this.#database.close();
    await this.#marked.catch(() => undefined);
    await this.#witness.close().catch(() => undefined);
  }
}

/** In a directory that is there. */
async function openParts(directory: string, { writeBufferBytes }: Sizes): Promise<Parts> {
  const witnessed = await readWitness(directory);
  if (witnessed === 'unreadable') throw new StoreDamaged(directory, `its file ${witnessName} is not readable`);
  const mark = witnessed === 'missing' ? undefined : witnessed;
  const createIfMissing = await mayCreate(directory, mark);
  const damaged = createIfMissing ? undefined : await damagedTable(directory);
  if (damaged !== undefined) throw new StoreDamaged(directory, `its ${damaged}`);
  const database = await openDatabase(directory, { createIfMissing, writeBufferSize: writeBufferBytes });
  try {
    const files = await filesOf(database, directory);
    const longRows = await LongRowFiles.open(join(directory, 'long'), new Set(files.values()));
    const witness = await Witness.open(directory, unmarked);
    return { mark, database, witness, longRows, files };
  } catch (error) {
    await database.close();
    throw error;
  }
}

type Batch = ReturnType<Database['batch']>;

function* filled(batch: Pick<Batch, 'put' | 'del'>, operations: readonly Operation[]): Generator<void, void> {
  for (const { key, value } of operations) {
    if (value === undefined) batch.del(key);
    else batch.put(key, value);
    yield;
  }
}

const operationOf = ({ key, value }: Operation) =>
  value === undefined ? ({ type: 'del', key } as const) : ({ type: 'put', key, value } as const);

const lengthOf = (value: RowBytes): number =>
  value instanceof Uint8Array ? value.length : value.reduce((sum, { length }) => sum + length, 0);

function isLarge(operations: readonly Operation[]): boolean {
  if (operations.length > turnRows) return true;
  return operations.reduce((sum, { value }) => sum + (value?.length ?? 0), 0) > turnBytes;
}

/** The long rows of a database: their keys, ascending, with the numbers of their files. */
async function filesOf(database: Database, place: string, view: View = {}): Promise<Map<string, FileNumber>> {
  const files = new Map<string, FileNumber>();
  try {
    for await (const [key, value] of database.iterator({ ...view, lt: behindReferences })) {
      const number = Buffer.from(value).toString('latin1');
      if (!/^\d{1,15}$/.test(number)) throw new Error(`the row ${JSON.stringify(key)} was changed`);
      files.set(key.slice(reference.length), Number(number));
    }
  } catch (cause) {
    throw new StoreDamaged(place, reasonOf(cause), { cause });
  }
  return files;
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
    if (notAllowed.test(reasonOf(cause))) {
      throw new Error(reasonOf(cause), { cause });
    }
    throw new StoreDamaged(directory, reasonOf(cause), { cause });
  }
}

/** Recognised by its message: LevelDB calls a missing file an IO error as well. */
const notAllowed =
  /permission denied|no space left|quota exceeded|file too large|too many open files|read-only file system|input\/output error/i;

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
