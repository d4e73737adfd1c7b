// The only writer of the log. One write is outstanding at a time; what arrives meanwhile is merged into the next,
// which is group commit without a timer. Messages that assert something durable leave when their write is.
import type { Message } from '../core/message.ts';
import { sizeOf } from '../core/raft-log.ts';
import type { LogStore, WriteBatch } from '../store/log-store.ts';

export interface Job {
  /** The core's output, or undefined for a write of the driver's own. */
  readonly seq: number | undefined;
  readonly batch: WriteBatch;
  readonly messages: Message[];
  /** Runs when the batch is durable. */
  readonly whenWritten?: (() => void) | undefined;
}

export interface WriterEvents {
  /** Durable up to output `seq`. */
  written(seq: number | undefined): void;
  send(message: Message): void;
  failed(failure: Error): void;
  /** The disk took so long for a synced write. */
  synced(ms: number): void;
}

export interface BatchLimit {
  readonly entries: number;
  readonly bytes: number;
}

export class LogWriter {
  readonly #store: Pick<LogStore, 'write'>;
  readonly #limit: BatchLimit;
  readonly #events: WriterEvents;
  readonly #now: () => number;
  #queue: Job[] = [];
  #startedAt: number | undefined;

  constructor(store: Pick<LogStore, 'write'>, limit: BatchLimit, now: () => number, events: WriterEvents) {
    this.#store = store;
    this.#limit = limit;
    this.#now = now;
    this.#events = events;
  }

  get isIdle(): boolean {
    return this.#startedAt === undefined;
  }

  /** For how long the disk has owed an answer, milliseconds. */
  get outstandingMs(): number {
    return this.#startedAt === undefined ? 0 : this.#now() - this.#startedAt;
  }

  add(job: Job): void {
    this.#queue.push(job);
    if (this.isIdle) this.#writeNext();
  }

  /** These messages wait for everything that was added before them. */
  sendWhenWritten(messages: readonly Message[]): void {
    const last = this.#queue.at(-1);
    if (last !== undefined) last.messages.push(...messages);
    else if (!this.isIdle) this.#queue.push({ seq: undefined, batch: { sync: false }, messages: [...messages] });
    else for (const message of messages) this.#events.send(message);
  }

  #writeNext(): void {
    const jobs = this.#takeJobs();
    const batch = mergeBatches(jobs.map((job) => job.batch));
    if (isEmpty(batch)) {
      this.#finish(jobs);
      return;
    }
    const startedAt = this.#now();
    this.#startedAt = startedAt;
    this.#store.write(batch, (failure) => {
      this.#startedAt = undefined;
      if (batch.sync) this.#events.synced(this.#now() - startedAt);
      if (failure === undefined) this.#finish(jobs);
      else this.#events.failed(failure);
    });
  }

  #takeJobs(): Job[] {
    let entries = 0;
    let bytes = 0;
    let count = 0;
    for (const { batch } of this.#queue) {
      entries += batch.entries?.length ?? 0;
      for (const entry of batch.entries ?? []) bytes += sizeOf(entry);
      const isFull = entries > this.#limit.entries || bytes > this.#limit.bytes;
      // An installation starts a batch: what it replaces was written before.
      if (count > 0 && (isFull || batch.install !== undefined)) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  #finish(jobs: readonly Job[]): void {
    for (const { seq, messages, whenWritten } of jobs) {
      if (seq !== undefined) this.#events.written(seq);
      for (const message of messages) this.#events.send(message);
      whenWritten?.();
    }
    if (this.#queue.length > 0 && this.isIdle) this.#writeNext();
  }
}

/** One batch with the effect of all, in order. */
export function mergeBatches(batches: readonly WriteBatch[]): WriteBatch {
  return batches.length === 0 ? { sync: false } : batches.reduce(mergeTwo);
}

function mergeTwo(first: WriteBatch, then: WriteBatch): WriteBatch {
  const from = then.truncateFrom;
  const kept = from === undefined ? first.entries : first.entries?.filter(({ index }) => index < from);
  const truncateFrom = from === undefined ? first.truncateFrom : Math.min(from, first.truncateFrom ?? from);
  return {
    hardState: then.hardState ?? first.hardState,
    truncateFrom,
    entries: [...(kept ?? []), ...(then.entries ?? [])],
    install: then.install ?? first.install,
    checkpoint: then.checkpoint ?? first.checkpoint,
    compactTo: then.compactTo ?? first.compactTo,
    trusted: then.trusted ?? first.trusted,
    sync: first.sync || then.sync,
  };
}

function isEmpty(batch: WriteBatch): boolean {
  const { hardState, truncateFrom, entries, install, checkpoint, compactTo, trusted } = batch;
  const isChange = hardState ?? truncateFrom ?? install ?? checkpoint ?? compactTo ?? trusted;
  return isChange === undefined && !entries?.length;
}
