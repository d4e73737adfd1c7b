// One place that access logs are written to, open in main and nowhere else. Lines go out in the order in which they
// came, whole ones only, one write at a time; a write that fails costs its lines and nothing more.
import { constants, write } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import type { Logger } from '../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { LogPaths } from './log-paths.ts';

/** Called when the lines are on their way to the disk, or are lost. */
export type OnWritten = () => void;

interface Pending {
  readonly bytes: Uint8Array;
  readonly lines: number;
  readonly onWritten: OnWritten;
}

const stdout = 1;

/** Appends; a pipe without a reader is refused instead of waited for, and a symbolic link is not followed. */
const flags =
  constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0);

/** In one write; beyond it the rest goes with the next. */
const writeMax = 1024 * 1024;

/** Interval of attempts to open a file that could not be opened. */
const retryMs = 2_000;

export interface LogFileParts {
  readonly path: string;
  readonly paths: LogPaths;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'after'>;
  readonly onLost: (lines: number, reason: string) => void;
}

export class LogFile {
  readonly #parts: LogFileParts;
  #handle: FileHandle | undefined;
  #descriptor = stdout;
  /** Why the path may not be written to: lines are lost then. */
  #refusal: string | undefined;
  #queue: Pending[] = [];
  /** One thing at a time: opening, writing. */
  #busy = false;
  #work: Promise<void> = Promise.resolve();
  #mustOpen = true;
  #cancelRetry: Cancel | undefined;
  /** Reason, as logged, why the file is not open. */
  #logged: string | undefined;
  /** True when the file ends within a line that was lost. */
  #isTorn = false;

  constructor(parts: LogFileParts) {
    this.#parts = parts;
  }

  /** The file may have been moved away: what comes from now on goes to the one of that name. */
  reopen(): void {
    this.#mustOpen = true;
    this.#begin();
  }

  write(bytes: Uint8Array, lines: number, onWritten: OnWritten): void {
    this.#queue.push({ bytes, lines, onWritten });
    this.#begin();
  }

  /** Writes what has come and closes. */
  async close(): Promise<void> {
    await this.written();
    this.#cancelRetry?.();
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => {});
  }

  /** Resolves when nothing is left to write. */
  async written(): Promise<void> {
    while (this.#busy) await this.#work;
  }

  #begin(): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#work = this.#workOff();
  }

  async #workOff(): Promise<void> {
    while (this.#mustOpen || this.#queue.length > 0) {
      if (this.#mustOpen) await this.#open();
      const batch = this.#take();
      if (batch.length === 0) continue;
      await this.#writeOut(batch);
      for (const { onWritten } of batch) onWritten();
    }
    this.#busy = false;
  }

  #take(): Pending[] {
    let length = 0;
    const count = this.#queue.findIndex(({ bytes }) => {
      length += bytes.length;
      return length > writeMax;
    });
    return this.#queue.splice(0, count < 0 ? this.#queue.length : Math.max(1, count));
  }

  async #open(): Promise<void> {
    this.#mustOpen = false;
    this.#isTorn = false;
    const former = this.#handle;
    this.#handle = undefined;
    this.#descriptor = stdout;
    this.#refusal = undefined;
    this.#cancelRetry?.();
    const { path, paths } = this.#parts;
    await paths.makeDirectoryOf(path);
    const place = await paths.place(path);
    if (place.kind === 'stream') this.#descriptor = place.descriptor;
    else if (place.kind === 'refused') this.#refuse(place.why);
    else await this.#openFile(place.path);
    await former?.close().catch(() => {});
  }

  async #openFile(path: string): Promise<void> {
    try {
      const handle = await open(path, flags, 0o644);
      if (await this.#parts.paths.allows(await openedAt(handle, path))) {
        this.#handle = handle;
        this.#descriptor = handle.fd;
        if (this.#logged !== undefined)
          this.#parts.logger.info({ path: this.#parts.path }, 'an access log is open again');
        this.#logged = undefined;
        return;
      }
      await handle.close();
      this.#refuse('was moved while it was opened');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#retry(reason, 'an access log cannot be opened, its lines go to stdout');
    }
  }

  #refuse(why: string): void {
    this.#refusal = `${this.#parts.path} ${why}`;
    this.#retry(why, 'an access log stays closed, its lines are lost');
  }

  /** No free descriptor, a directory that is not mounted yet: what keeps a file closed may pass. Each reason is logged once. */
  #retry(reason: string, message: string): void {
    const { path, logger, clock } = this.#parts;
    if (reason !== this.#logged) logger.warn({ path, reason }, message);
    this.#logged = reason;
    this.#cancelRetry = clock.after(retryMs, () => this.reopen());
  }

  async #writeOut(batch: readonly Pending[]): Promise<void> {
    const [first] = batch;
    if (this.#refusal !== undefined) {
      this.#parts.onLost(
        batch.reduce((sum, each) => sum + each.lines, 0),
        this.#refusal,
      );
      return;
    }
    const isPlain = batch.length === 1 && !this.#isTorn;
    const parts = [...(this.#isTorn ? [lineEnd] : []), ...batch.map(({ bytes }) => bytes)];
    const bytes = isPlain && first ? first.bytes : Buffer.concat(parts);
    const { written, error } = await writeAll(this.#descriptor, bytes);
    if (written > 0) this.#isTorn = bytes[written - 1] !== lineEnd[0];
    if (error === undefined) return;
    const lines = batch.reduce((sum, each) => sum + each.lines, 0);
    const whole = Math.max(0, linesIn(bytes.subarray(0, written)) - (parts[0] === lineEnd ? 1 : 0));
    this.#parts.onLost(lines - Math.min(lines, whole), error instanceof Error ? error.message : String(error));
  }
}

/** Path that the system knows the open file under; a file that was removed meanwhile has none, and counts as where it was. */
const openedAt = (handle: FileHandle, path: string): Promise<string> =>
  readlink(`/proc/self/fd/${handle.fd}`).then(
    (found) => found.replace(/ \(deleted\)$/, ''),
    () => path,
  );

const lineEnd = Buffer.from('\n');

function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
}

/** Writes as much as possible; returns the number of bytes written, and the error that kept the rest back. */
async function writeAll(descriptor: number, bytes: Uint8Array): Promise<{ written: number; error?: unknown }> {
  let written = 0;
  let retries = 0;
  while (written < bytes.length) {
    try {
      written += await writeSome(descriptor, bytes, written);
    } catch (error) {
      if (!isFull(error) || ++retries > fullMax) return { written, error };
      await new Promise((resolve) => setTimeout(resolve, fullMs));
    }
  }
  return { written };
}

const writeSome = (descriptor: number, bytes: Uint8Array, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(descriptor, bytes, at, bytes.length - at, null, (error, written) =>
      error === null ? resolve(written) : reject(error),
    );
  });

/** A pipe whose reader is slow: asked again for a second. */
const isFull = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EAGAIN';
const fullMax = 50;
const fullMs = 20;
