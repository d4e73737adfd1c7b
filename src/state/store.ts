// Store of rows. Simple on purpose: a store knows keys and bytes, writes batches that are there whole or not at all,
// and remembers its last answered write outside of its own files.

/** Bytes of a row: in one piece or in several, one behind the other. */
export type RowBytes = Uint8Array | readonly Uint8Array[];

export interface Change {
  readonly key: string;
  /** Undefined: the row goes. */
  readonly value: RowBytes | undefined;
}

export const partsOf = (bytes: RowBytes): readonly Uint8Array[] => (bytes instanceof Uint8Array ? [bytes] : bytes);

export const inOnePiece = (bytes: RowBytes): Uint8Array => (bytes instanceof Uint8Array ? bytes : Buffer.concat(bytes));

/** Position of the store at its last answered write. A store that comes back older has lost writes. */
export interface Mark {
  readonly applied: number;
  /** State hash at `applied`, 16 hex digits. */
  readonly hash: string;
  /** Start counter of the node. */
  readonly boot: number;
}

/** Rows of one moment, independent of later writes. The holder closes it. */
export interface StoreImage {
  get(key: string): Promise<Uint8Array | undefined>;
  /** Every row, ascending by key. */
  rows(): AsyncIterable<readonly [key: string, value: Uint8Array]>;
  close(): Promise<void>;
}

export interface Store {
  /** For people: a directory, or `memory`. */
  readonly place: string;
  /** As it was when the store was opened; undefined when there is none. */
  readonly mark: Mark | undefined;
  /** Every row, ascending by key. */
  rows(): AsyncIterable<readonly [key: string, value: Uint8Array]>;
  image(): StoreImage;
  /**
   * Writes all changes atomically, syncs them and resolves. The mark follows and is synced before the next write begins:
   * what is answered meanwhile is in the log, so the mark need not hold the answer up. One write at a time.
   * After a rejection it is not known what is on disk: the store must not be written again before `reopen`.
   */
  write(changes: readonly Change[], mark: Mark): Promise<void>;
  /** Opens the files anew after a rejected write, which is there as a whole then or not at all. Rejects when they cannot be opened yet. */
  reopen(): Promise<void>;
  /** Rewrites the files so that no deleted or overwritten value is left in them. */
  compact(): Promise<void>;
  close(): Promise<void>;
}

/** Error for files that do not hold what was written. Serving them would show a state that was never agreed on. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';

  constructor(place: string, what: string, options?: ErrorOptions) {
    const cure = 'restore a backup into an empty directory, or replace this node';
    super(`the store at ${place} is damaged: ${what}; ${cure}`, options);
  }
}

export class StoreInUse extends Error {
  override readonly name = 'StoreInUse';

  constructor(place: string, options?: ErrorOptions) {
    super(`the store at ${place} is in use by another process: stop that one, or set another storePath`, options);
  }
}

/** The store is sound, but these settings or this program do not fit it. */
export class StoreMismatch extends Error {
  override readonly name = 'StoreMismatch';
}
