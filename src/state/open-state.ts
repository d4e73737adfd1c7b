// Opening of a store as a state that may be served: every row is checked, the state hash is computed anew and compared,
// and the mark is held against it. A store that does not fit itself is refused with a sentence, never served.

import { inSlices, type RunSteps } from '../util/time-slice.ts';
import { ConfigState } from './config-state.ts';
import { Cipher } from './encryption.ts';
import { type OpenedRow, RowCodec } from './row-codec.ts';
import { isLocal, isSecret, keys } from './row-keys.ts';
import { type Store, StoreDamaged, StoreMismatch } from './store.ts';

export const formatVersion = 1;

/** Identity of the owner of this store. Made once, except `boot`. */
export interface Identity {
  readonly clusterId: string;
  /** Random, 48 bit: a directory made anew is another member, even under the same name. */
  readonly incarnation: number;
  /** Counts the starts of this store, from 1. */
  readonly boot: number;
}

export interface OpenOptions {
  /** 32 bytes; encryption at rest is on when present. */
  readonly encryptionKey?: Uint8Array | undefined;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Encryption is being turned on: removes what lies elsewhere in plain text. The store is marked afterwards. */
  readonly beforeEncryption?: ((applied: number) => Promise<void>) | undefined;
  /** Checks and loads alone: nothing is written, and a start that counts comes later. */
  readonly readOnly?: boolean;
  /** Scheduler of the steps that load a store and compute rounds; in slices by the clock by default. */
  readonly run?: RunSteps;
}

export interface OpenedState {
  readonly state: ConfigState;
  readonly identity: Identity;
  readonly codec: RowCodec;
  readonly cipher: Cipher | undefined;
  /** Conditions that an operator should know, although the store can be served. */
  readonly warnings: readonly string[];
}

interface EncryptionMarker {
  readonly mode: 'none' | 'aes-256-gcm';
  readonly fingerprint?: string;
}

/**
 * Checks and loads a store, and counts this start in it.
 * @throws {StoreDamaged} rows, hash or mark do not fit
 * @throws {StoreMismatch} another format or another encryption setting (contract.md §1.3)
 */
export async function openState(store: Store, options: OpenOptions): Promise<OpenedState> {
  const rows = await readRows(store);
  const plain = new RowCodec(undefined);
  const isNew = rows.size === 0 && (store.mark?.boot ?? 0) === 0;
  if (!isNew) checkFormat(store, localRow(store, plain, rows, keys.local.format));
  const cipher = options.encryptionKey && new Cipher(options.encryptionKey, options.randomBytes);
  const marker = isNew ? undefined : localRow<EncryptionMarker>(store, plain, rows, keys.local.encryption);
  const turnOn = checkEncryption(store, marker, cipher, rows);
  const codec = new RowCodec(cipher);
  const state = await (options.run ?? inSlices)(loadState(store, codec, rows));
  const identity = isNew
    ? newIdentity(options.randomBytes)
    : nextBoot(localRow<Identity>(store, plain, rows, keys.local.identity));
  const warnings = checkMark(store, state, identity, isNew);
  if (options.readOnly === true) {
    if (turnOn)
      throw new StoreMismatch(`the store at ${store.place} cannot be encrypted while its disk takes no write`);
    return { state, identity, codec, cipher, warnings };
  }
  if (turnOn) {
    await options.beforeEncryption?.(state.applied);
    await store.compact();
  }
  const changes = [
    codec.encodeLocal(keys.local.format, { version: formatVersion }),
    codec.encodeLocal(keys.local.encryption, markerFor(cipher)),
    codec.encodeLocal(keys.local.identity, identity),
  ];
  await store.write(changes, { applied: state.applied, hash: state.hash, boot: identity.boot });
  return { state, identity, codec, cipher, warnings };
}

async function readRows(store: Store): Promise<Map<string, Uint8Array>> {
  const rows = new Map<string, Uint8Array>();
  for await (const [key, value] of store.rows()) rows.set(key, value);
  return rows;
}

function* loadState(
  store: Store,
  codec: RowCodec,
  rows: ReadonlyMap<string, Uint8Array>,
): Generator<void, ConfigState> {
  const opened: OpenedRow[] = [];
  for (const [key, value] of rows) {
    if (isLocal(key)) continue;
    const row = codec.decode(key, value);
    if (row === undefined) throw new StoreDamaged(store.place, `the row ${JSON.stringify(key)} was changed`);
    opened.push(row);
    yield;
  }
  const loaded = yield* ConfigState.loadInSteps(opened, { digests: codec.digests });
  if (typeof loaded === 'string') throw new StoreDamaged(store.place, loaded);
  return loaded;
}

function localRow<T>(store: Store, codec: RowCodec, rows: ReadonlyMap<string, Uint8Array>, key: string): T {
  const value = rows.get(key);
  const row = value && codec.decode(key, value);
  if (row === undefined) {
    throw new StoreDamaged(
      store.place,
      `the row ${JSON.stringify(key)} ${value === undefined ? 'is missing' : 'was changed'}`,
    );
  }
  return JSON.parse(row.body.toString()) as T;
}

function checkFormat(store: Store, { version }: { version: number }): void {
  if (version === formatVersion) return;
  throw new StoreMismatch(
    `the store at ${store.place} has format ${version}; this program reads format ${formatVersion}`,
  );
}

/** The table of contract.md §1.3. True when encryption has to be turned on now. */
function checkEncryption(
  store: Store,
  marker: EncryptionMarker | undefined,
  cipher: Cipher | undefined,
  rows: ReadonlyMap<string, Uint8Array>,
): boolean {
  const refuse = (why: string): never => {
    throw new StoreMismatch(`the store at ${store.place} ${why}`);
  };
  if (marker === undefined) return false;
  const encrypted = marker.mode === 'aes-256-gcm';
  if (cipher === undefined) {
    return encrypted ? refuse('is encrypted, but controlPlane.encryption.key is not set') : false;
  }
  if (encrypted) {
    return marker.fingerprint === cipher.fingerprint
      ? false
      : refuse('was encrypted with another key than controlPlane.encryption.key');
  }
  const secret = [...rows.keys()].find(isSecret);
  return secret === undefined
    ? true
    : refuse('holds secrets or snapshots in plain text; delete them before controlPlane.encryption.key is set');
}

/** Returns the marker of a store's encryption. */
export const markerFor = (cipher: Cipher | undefined): EncryptionMarker =>
  cipher === undefined ? { mode: 'none' } : { mode: 'aes-256-gcm', fingerprint: cipher.fingerprint };

function checkMark(store: Store, state: ConfigState, { boot }: Identity, isNew: boolean): string[] {
  const { mark } = store;
  if (mark === undefined)
    return isNew ? [] : [`the store at ${store.place} had no witness of answered writes; made a new one`];
  if (state.applied < mark.applied) {
    const lost = `writes were answered up to index ${mark.applied}, but it ends at ${state.applied}`;
    throw new StoreDamaged(store.place, lost);
  }
  if (state.applied === mark.applied && state.hash !== mark.hash) {
    throw new StoreDamaged(store.place, `at index ${mark.applied} its hash was ${mark.hash} and is ${state.hash} now`);
  }
  if (boot <= mark.boot) {
    throw new StoreDamaged(store.place, `it was started ${mark.boot} times, but remembers ${boot - 1}`);
  }
  return [];
}

const nextBoot = (identity: Identity): Identity => ({ ...identity, boot: identity.boot + 1 });

/** For a store that is made anew. */
export function newIdentity(randomBytes: (count: number) => Uint8Array): Identity {
  const bytes = Buffer.from(randomBytes(22));
  return { clusterId: bytes.toString('hex', 0, 16), incarnation: bytes.readUIntBE(16, 6), boot: 1 };
}
