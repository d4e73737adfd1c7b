// The product's LogStore: classic-level, distrusted. One batch at a time, each with hard state and ring record;
// checksums and a chain over the entries; a witness beside it; any failed write is the last one.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';

import { encodeBase, encodeGeneration, encodeIdentity, encodeNumber, type IdentityRecord } from '../codec/records.ts';
import type { BootState, Config, ConfigEntry, Index } from '../core/types.ts';
import { keys } from './keys.ts';
import { readComplaints } from './leveldb-complaints.ts';
import { LogImage, type Operation, put } from './log-image.ts';
import type { LogStore, OpenedLog, Verdict, WriteBatch } from './log-store.ts';
import { clearMarker, readMarker, setMarker } from './markers.ts';
import { type Database, type LogContents, type Scan, scanLog } from './recovery.ts';
import { checkTables } from './table-check.ts';
import { judge } from './verdict.ts';
import { type Testimony, Witness } from './witness.ts';

export interface LevelLogStoreOptions {
  /** Holds `log/`, the markers and the witness. Created when absent. */
  readonly directory: string;
  /** Name of this node; used only when the directory is empty, afterwards the stored identity counts. */
  readonly nodeId: string;
  /** Draws the incarnation of a new directory: a random integer below 2^53. */
  readonly incarnation: () => number;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
}

const writeBufferBytes = 16 * 1024 * 1024;
const firstGeneration = 1;

/** Rejections and failures of every method but `open` mean the same: this node is finished until it is restarted. */
export class LevelLogStore implements LogStore {
  readonly #options: LevelLogStoreOptions;
  #database: Database | undefined;
  #witness: Witness | undefined;
  #image: LogImage | undefined;
  #identity: IdentityRecord | undefined;
  #writing = false;
  #poisoned: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(options: LevelLogStoreOptions) {
    this.#options = options;
  }

  /** Rejects when LevelDB cannot open or read the database; the directory is marked as poisoned then. */
  async open(): Promise<OpenedLog> {
    const { directory } = this.#options;
    await mkdir(directory, { recursive: true });
    await keepOldComplaints(directory);
    await setMarker(directory, 'OPENING', 'no verdict was reached');
    const testimony = await Witness.read(directory);
    const scan = await this.#scan();
    const verdict = await this.#judge(scan, testimony);
    await clearMarker(directory, 'OPENING');
    if (verdict.kind === 'poisoned') return poisonedLog(verdict, scan.contents, this.#options.nodeId);
    return this.#begin(scan, verdict);
  }

  async #scan(): Promise<Scan> {
    const location = join(this.#options.directory, 'log');
    try {
      const [damaged] = await checkTables(location);
      if (damaged !== undefined) throw new Error(damaged);
      this.#database = openDatabase(location);
      await this.#database.open();
      return await scanLog(this.#database);
    } catch (error) {
      const failure = asError(error);
      if (!isLocked(failure)) await setMarker(this.#options.directory, 'POISON', `unreadable log: ${failure.message}`);
      throw failure;
    }
  }

  async #judge(scan: Scan, testimony: Testimony): Promise<Verdict> {
    const { directory } = this.#options;
    const verdict = judge({
      empty: scan.empty,
      faults: scan.faults,
      complaints: await readComplaints(join(directory, 'log')),
      testimony,
      persistSeq: scan.contents?.state.persistSeq ?? 0,
      stoppedCleanly: scan.contents?.stoppedCleanly ?? false,
      poison: await readMarker(directory, 'POISON'),
      suspicion: await readMarker(directory, 'SUSPECT'),
    });
    if (verdict.kind === 'poisoned') await setMarker(directory, 'POISON', verdict.reason);
    if (verdict.kind === 'suspect') await setMarker(directory, 'SUSPECT', verdict.reason);
    return verdict;
  }

  /** Counts this start, durably, before anything else can be answered (raft.md P14). */
  async #begin({ contents }: Scan, verdict: Verdict): Promise<OpenedLog> {
    const boots = (contents?.boots ?? 0) + 1;
    const image = new LogImage(imageOf(contents));
    this.#witness = await Witness.open(this.#options.directory, (error) => this.#fail(asError(error)));
    this.#image = image;
    this.#identity = contents?.identity ?? this.#newIdentity();
    const first = contents === undefined ? foundation(this.#identity) : [];
    const counted = put(keys.boots, encodeNumber('boots', boots));
    await this.#commit([...first, counted, { type: 'del', key: keys.clean }, ...image.plan({ sync: true })], true);
    return {
      identity: this.#identity,
      verdict,
      boots,
      generation: contents?.generation ?? firstGeneration,
      boot: bootOf(contents, verdict.kind === 'suspect'),
    };
  }

  #newIdentity(): IdentityRecord {
    const { nodeId, incarnation, nowMs } = this.#options;
    return { nodeId, incarnation: incarnation(), clusterId: undefined, createdAt: nowMs() };
  }

  /** With `after` the state machine has already applied entries of a time before raft: the log begins behind them. */
  async join(clusterId: string, config: Config | undefined, after: Index = 0): Promise<void> {
    const image = this.#opened();
    if (this.#identity === undefined || image.lastIndex > 0) throw new Error('this node has a place in a cluster');
    this.#identity = { ...this.#identity, clusterId };
    const batch = config === undefined ? { sync: true } : foundingBatch(config, after, this.#options.nowMs());
    await this.#commit([put(keys.identity, encodeIdentity(this.#identity)), ...image.plan(batch)], true);
  }

  /**
   * Gives the only voter of a cluster another name: the identity and a configuration that says so, in one batch.
   * Only a sole voter may: it is the quorum that commits the entry. Reopen afterwards.
   */
  async rename(nodeId: string, config: Config): Promise<void> {
    const image = this.#opened();
    if (this.#identity === undefined) throw new Error('the log is not open');
    this.#identity = { ...this.#identity, nodeId };
    const term = image.hardState.term + 1;
    const index = image.lastIndex + 1;
    const entry: ConfigEntry = { kind: 'config', index, term, time: this.#options.nowMs(), config };
    const operations = image.plan({
      hardState: { term, vote: undefined, commit: index },
      entries: [entry],
      sync: true,
    });
    await this.#commit([put(keys.identity, encodeIdentity(this.#identity)), ...operations], true);
  }

  write(batch: WriteBatch, done: (failure: Error | undefined) => void): void {
    this.#write(batch).then(
      () => done(undefined),
      (error: unknown) => done(asError(error)),
    );
  }

  async #write(batch: WriteBatch): Promise<void> {
    const image = this.#opened();
    if (this.#failure !== undefined) throw this.#failure;
    if (isLoneCommit(batch)) return image.hold(batch.hardState);
    return this.#commit(image.plan(batch), batch.sync);
  }

  /**
   * The suspicion of an earlier start is settled: a leader has shown that everything acknowledged is here.
   * Until it resolves a restart finds the node suspect again.
   */
  async trust(): Promise<void> {
    await clearMarker(this.#options.directory, 'SUSPECT');
  }

  poison(reason: string): void {
    this.#fail(new Error(reason));
    this.#poisoned = setMarker(this.#options.directory, 'POISON', reason).catch(() => {
      // The disk that failed the log may fail the marker too; the next start judges by what it finds.
    });
  }

  async close({ clean }: { readonly clean: boolean }): Promise<void> {
    if (clean && this.#failure === undefined && this.#image !== undefined) {
      const operations = this.#image.plan({ sync: true });
      const marker = put(keys.clean, encodeNumber('clean', this.#image.persistSeq));
      await this.#commit([...operations, marker], true);
    }
    await this.#poisoned;
    await this.#database?.close();
    await this.#witness?.close();
  }

  /** P1 and P13: one batch outstanding, none after a failure. LevelDB acknowledges writes that it then loses. */
  async #commit(operations: readonly Operation[], sync: boolean): Promise<void> {
    if (this.#writing) throw this.#fail(new Error('two batches outstanding'));
    if (this.#failure !== undefined) throw this.#failure;
    const seq = this.#image?.persistSeq ?? 0;
    this.#writing = true;
    try {
      if (this.#database === undefined) throw new Error('the log is not open');
      await this.#database.batch([...operations], { sync });
    } catch (error) {
      throw this.#fail(asError(error));
    } finally {
      this.#writing = false;
    }
    if (sync) this.#witness?.note(seq);
  }

  #fail(error: Error): Error {
    this.#failure ??= error;
    return this.#failure;
  }

  #opened(): LogImage {
    if (this.#image === undefined) throw new Error('the log is not open');
    return this.#image;
  }
}

/** The constructor begins to open: nothing that must come before may come after this call. */
function openDatabase(location: string): Database {
  const options = { compression: false, writeBufferSize: writeBufferBytes } as const;
  return new ClassicLevel(location, { ...options, keyEncoding: 'buffer', valueEncoding: 'buffer' });
}

/** An open that died before its verdict may have been told of lost bytes; the next LOG will not repeat it. */
async function keepOldComplaints(directory: string): Promise<void> {
  if ((await readMarker(directory, 'OPENING')) === undefined) return;
  const [complaint] = await readComplaints(join(directory, 'log'));
  if (complaint !== undefined) await setMarker(directory, 'SUSPECT', complaint);
}

function foundation(identity: IdentityRecord): Operation[] {
  return [
    put(keys.identity, encodeIdentity(identity)),
    put(keys.base, encodeBase({ index: 0, term: 0, chain: 0 })),
    put(keys.generation, encodeGeneration({ generation: firstGeneration, builtFrom: 0 })),
  ];
}

function foundingBatch(config: Config, after: Index, time: number): WriteBatch {
  const entry: ConfigEntry = { kind: 'config', index: after + 1, term: 1, time, config };
  const founding = { hardState: { term: 1, vote: undefined, commit: after + 1 }, entries: [entry], sync: true };
  if (after === 0) return founding;
  const meta = { index: after, term: 1, time, config, file: '', size: 0, sha256: '00'.repeat(32) };
  return { ...founding, install: { meta, generation: firstGeneration } };
}

function imageOf(contents: LogContents | undefined) {
  return {
    base: contents?.base ?? { index: 0, term: 0, chain: 0 },
    chains: contents?.chains ?? [],
    hardState: contents?.state.hardState ?? { term: 0, vote: undefined, commit: 0 },
    persistSeq: contents?.state.persistSeq ?? 0,
    oldestKey: contents?.oldestKey ?? 1,
  };
}

function bootOf(contents: LogContents | undefined, suspect: boolean): BootState {
  const { base, hardState } = imageOf(contents);
  return {
    hardState,
    base: { index: base.index, term: base.term },
    entries: contents?.entries ?? [],
    checkpoint: contents?.checkpoint,
    suspect,
  };
}

/** Enough to say who this was; nothing of a poisoned log is used. */
function poisonedLog(verdict: Verdict, contents: LogContents | undefined, nodeId: string): OpenedLog {
  return {
    identity: contents?.identity ?? { nodeId, incarnation: 0, clusterId: undefined },
    verdict,
    boots: contents?.boots ?? 0,
    generation: contents?.generation ?? firstGeneration,
    boot: bootOf(undefined, false),
  };
}

function isLoneCommit(batch: WriteBatch): batch is WriteBatch & { hardState: NonNullable<WriteBatch['hardState']> } {
  const { hardState, sync, ...rest } = batch;
  return (
    !sync && hardState !== undefined && Object.values(rest).every((field) => field === undefined || isEmptyList(field))
  );
}

function isEmptyList(field: unknown): boolean {
  return Array.isArray(field) && field.length === 0;
}

function isLocked(error: Error): boolean {
  const cause = error.cause;
  return cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED';
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
