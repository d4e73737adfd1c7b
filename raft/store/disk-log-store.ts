// The product's LogStore: a journal, distrusted. One batch at a time, each with hard state and ring record; checksums and
// a chain over the entries; a witness beside it. A rejected write is undone and made again (raft.md P13).
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { type DiskProblem, isRejected, rejectedPauseMs } from '../../disk/disk-problem.ts';
import { isOfSystem } from '../../disk/durable-file.ts';
import { encodeIdentity, encodeNumber, type IdentityRecord } from '../codec/records.ts';
import { sizeOf } from '../core/raft-log.ts';
import type { Config, ConfigEntry, Index, Term } from '../core/types.ts';
import { bootOf, imageOf, poisonedLog } from './boot-state.ts';
import { firstGeneration, foundation, foundingBatch } from './bootstrap-log.ts';
import { DirectoryLock } from './directory-lock.ts';
import { Journal } from './journal/journal.ts';
import type { Operation } from './journal/journal-frames.ts';
import { LogImage, put } from './log-image.ts';
import type { LogStore, LogVerdict, OpenedLog, WriteBatch } from './log-store.ts';
import { type After, Witness } from './log-witness.ts';
import { clearMarker, setMarker } from './markers.ts';
import { keys } from './record-keys.ts';
import { type Scan, scanLog } from './recovery.ts';
import { startUp } from './start-up.ts';

export interface DiskLogStoreOptions {
  /** Holds `journal/`, the markers and the witness, and `lock/`, which locks it. Created when absent. */
  readonly directory: string;
  /** Name of this node; used only when the directory is empty, afterwards the stored identity counts. */
  readonly nodeId: string;
  /** Draws the incarnation of a new directory: a random integer below 2^53. */
  readonly incarnation: () => number;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  /** Size of a file of the journal, 8 MiB unless given. */
  readonly segmentBytes?: number;
  /** Lets several notes of the witness share a write; without it each synced batch is noted at once. */
  readonly after?: After;
}

const systemAfter: After = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** Bytes of entries prepared within the turn; a larger batch is prepared apart. */
const ownTurnBytes = 2 * 1024 * 1024;

/** Rejections and failures mean the same: this node is finished until it is restarted. A rejected write alone is none. */
export class DiskLogStore implements LogStore {
  readonly #options: DiskLogStoreOptions;
  readonly #lock: DirectoryLock;
  readonly #journal: Journal;
  #witness: Witness | undefined;
  #image: LogImage | undefined;
  #identity: IdentityRecord | undefined;
  #writing = false;
  #poisoned: Promise<void> | undefined;
  /** Write under way; never rejects. */
  #committing: Promise<unknown> = Promise.resolve();
  #problem: DiskProblem | undefined;
  #giveUp: () => void = () => {};
  /** A rejected write is made again. */
  #insists = false;
  #failure: Error | undefined;

  constructor(options: DiskLogStoreOptions) {
    this.#options = options;
    this.#lock = new DirectoryLock(options.directory);
    const { segmentBytes } = options;
    this.#journal = new Journal({
      directory: join(options.directory, 'journal'),
      ...(segmentBytes && { segmentBytes }),
    });
  }

  get place(): string {
    return this.#options.directory;
  }

  get problem(): DiskProblem | undefined {
    return this.#problem;
  }

  /** Rejects when the log cannot be opened or read. Where its content is the reason, the directory is marked as poisoned. */
  async open(): Promise<OpenedLog> {
    const { directory, nodeId } = this.#options;
    const { scan, verdict } = await startUp(directory, {
      lock: () => this.#lock.take(),
      scan: async () => scanLog(await this.#journal.read()),
    });
    if (verdict.kind === 'poisoned') return poisonedLog(verdict, scan.contents, nodeId);
    return this.#begin(scan, verdict);
  }

  /** Counts this start, durably, before anything else can be answered (raft.md P14). */
  async #begin({ contents }: Scan, verdict: LogVerdict): Promise<OpenedLog> {
    const boots = (contents?.boots ?? 0) + 1;
    const image = new LogImage(imageOf(contents));
    if (contents?.stoppedCleanly === false) await this.#journal.settle();
    this.#witness = await Witness.open(this.#options.directory, this.#options.after);
    this.#image = image;
    this.#identity = contents?.identity ?? this.#newIdentity();
    const first = contents === undefined ? foundation(this.#identity) : [];
    const counted = put(keys.boots, encodeNumber('boots', boots));
    await this.#commit([...first, counted, { type: 'del', key: keys.clean }, ...image.plan({ sync: true })]);
    this.#insists = true;
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
  async join(clusterId: string, config: Config | undefined, after: Index = 0, term: Term = 1): Promise<void> {
    const image = this.#opened();
    if (this.#identity === undefined || image.lastIndex > 0) throw new Error('this node has a place in a cluster');
    this.#identity = { ...this.#identity, clusterId };
    const batch = config === undefined ? { sync: true } : foundingBatch(config, after, this.#options.nowMs(), term);
    await this.#commit([put(keys.identity, encodeIdentity(this.#identity)), ...image.plan(batch)]);
  }

  /**
   * Gives the only voter of a cluster another name: the identity and a configuration with that name, in one batch. Only
   * a sole voter may: it is the quorum that commits the entry. Reopen afterwards.
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
    await this.#commit([put(keys.identity, encodeIdentity(this.#identity)), ...operations]);
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
    if (this.#writing) throw this.#fail(new Error('two batches outstanding'));
    return this.#commit(await this.#plan(image, batch));
  }

  /**
   * Messages to the peers go into their sockets first, in a microtask: their disks are farther away than this one. Summing
   * many megabytes up takes a turn of its own, so that ticks and peers come in between.
   */
  async #plan(image: LogImage, batch: WriteBatch): Promise<readonly Operation[]> {
    const isLong = isLarge(batch);
    this.#writing = true;
    try {
      await (isLong ? nextTurn() : undefined);
      const operations = image.plan(batch);
      if (isLong) await nextTurn();
      return operations;
    } finally {
      this.#writing = false;
    }
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
    this.#giveUp();
    this.#poisoned = setMarker(this.#options.directory, 'POISON', reason).catch(() => {
      // The disk that failed the log may fail the marker too; the next start judges by what it finds.
    });
  }

  /** A rejected write is given up: nothing of it was answered, and the next start finds what there is of it. */
  async close({ clean }: { readonly clean: boolean }): Promise<void> {
    try {
      if (this.#problem !== undefined) this.#fail(new Error(this.#problem.reason));
      this.#giveUp();
      await this.#committing;
      // The mark of a clean stop is worth one try.
      this.#insists = false;
      if (clean && this.#failure === undefined && this.#image !== undefined) {
        const operations = this.#image.plan({ sync: true });
        const marker = put(keys.clean, encodeNumber('clean', this.#image.persistSeq));
        await this.#commit([...operations, marker]);
      }
    } finally {
      await this.#poisoned;
      await this.#journal.close();
      await this.#lock.release();
      await this.#witness?.close();
    }
  }

  /** P1: one batch outstanding. All of them are synced. */
  async #commit(operations: readonly Operation[]): Promise<void> {
    if (this.#writing) throw this.#fail(new Error('two batches outstanding'));
    if (this.#failure !== undefined) throw this.#failure;
    const seq = this.#image?.persistSeq ?? 0;
    this.#writing = true;
    const written = this.#journal.write(operations).catch((error: unknown) => this.#insist(operations, error));
    this.#committing = written.catch(() => undefined);
    try {
      await written;
    } catch (error) {
      throw this.#fail(asError(error));
    } finally {
      this.#writing = false;
    }
    this.#witness?.note(seq);
    this.#journal.release((this.#image?.baseIndex ?? 0) + 1);
  }

  /**
   * Makes a rejected write again until it succeeds (P13): what is left of it goes first, and the frame before it is proven to
   * be there. A start does not wait: its caller decides what to do without a log.
   */
  async #insist(operations: readonly Operation[], rejection: unknown): Promise<void> {
    if (!this.#insists || !isOfSystem(rejection)) throw rejection;
    let reason = rejection;
    for (let pauseMs = rejectedPauseMs.first; ; pauseMs = Math.min(2 * pauseMs, rejectedPauseMs.longest)) {
      this.#problem = isRejected(join(this.place, 'journal'), reason);
      await this.#pause(pauseMs);
      try {
        await this.#journal.undo();
        await this.#journal.write(operations);
        this.#problem = undefined;
        return;
      } catch (error) {
        reason = error;
      }
    }
  }

  /** Rejects when the store is given up meanwhile, and when it was before. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => reject(this.#failure ?? new Error('the log is closed'));
      if (this.#failure !== undefined) return end();
      const cancel = (this.#options.after ?? systemAfter)(ms, resolve);
      this.#giveUp = () => {
        cancel();
        end();
      };
    });
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

function isLoneCommit(batch: WriteBatch): batch is WriteBatch & { hardState: NonNullable<WriteBatch['hardState']> } {
  const { hardState, sync, ...rest } = batch;
  return (
    !sync && hardState !== undefined && Object.values(rest).every((field) => field === undefined || isEmptyList(field))
  );
}

function isLarge({ entries = [] }: WriteBatch): boolean {
  let bytes = 0;
  for (const entry of entries) bytes += sizeOf(entry);
  return bytes > ownTurnBytes;
}

function isEmptyList(field: unknown): boolean {
  return Array.isArray(field) && field.length === 0;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
