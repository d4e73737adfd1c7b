// Every place that access logs are written to. Main has one of these; workers send their lines to it.

import type { Middleware } from '../../model/middleware.ts';
import { type Problem, pointerOf } from '../../model/problem.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Clock } from '../../util/clock.ts';
import { LogFile, type OnWritten } from './log-file.ts';
import type { LogPaths } from './log-paths.ts';

/** Minimum interval of two reports of lost lines, in milliseconds. */
const reportMs = 10_000;

export class LogFiles {
  readonly #clock: Clock;
  readonly #paths: LogPaths;
  readonly #logger: Logger;
  readonly #files = new Map<string, LogFile>();
  #lost = 0;
  #unreported = 0;
  #reporting = false;
  #closed = false;

  constructor(clock: Clock, logger: Logger, paths: LogPaths) {
    this.#paths = paths;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** A configuration goes into force: its logs are opened, those that are open already anew, all others closed. */
  follow(middlewares: readonly Middleware[]): void {
    const paths = new Set(
      middlewares.flatMap(({ type, accessLog }) => (type === 'accessLog' && accessLog ? [accessLog.path] : [])),
    );
    for (const [path, file] of this.#files) {
      if (paths.has(path)) continue;
      this.#files.delete(path);
      void file.close();
    }
    for (const path of paths) this.#fileAt(path).reopen();
  }

  /** Names the logs that stay closed; pointers name entities by id. */
  async problemsOf(middlewares: readonly Middleware[]): Promise<Problem[]> {
    const problems: Problem[] = [];
    for (const { id, type, accessLog } of middlewares) {
      if (type !== 'accessLog' || accessLog === undefined) continue;
      const place = await this.#paths.place(accessLog.path);
      if (place.kind !== 'refused') continue;
      const pointer = pointerOf('middlewares', id, 'accessLog', 'path');
      problems.push({ pointer, message: `${place.why}: this access log stays closed` });
    }
    return problems;
  }

  /** Files may have been moved away. */
  reopen(): void {
    for (const file of this.#files.values()) file.reopen();
  }

  /** `bytes` are so many whole lines. */
  write(path: string, bytes: Uint8Array, lines: number, onWritten: OnWritten): void {
    if (this.#closed) onWritten();
    else this.#fileAt(path).write(bytes, lines, onWritten);
  }

  /** Number of lines that were lost since the start. */
  get lostLines(): number {
    return this.#lost;
  }

  /** Counts lost lines, which are reported at intervals. */
  lose(lines: number, reason: string): void {
    this.#lost += lines;
    this.#unreported += lines;
    if (this.#reporting) return;
    this.#reporting = true;
    this.#report(reason);
    this.#clock.after(reportMs, () => {
      this.#reporting = false;
      if (this.#unreported > 0) this.lose(0, reason);
    });
  }

  /** Resolves when everything handed over has been written. */
  async written(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.written()));
  }

  /** Writes what has come, for at most `withinMs`. */
  async close(withinMs: number): Promise<void> {
    const closing = Promise.all([...this.#files.values()].map((file) => file.close()));
    let cancel = (): void => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.after(withinMs, resolve);
    });
    await Promise.race([closing, late]);
    cancel();
    this.#closed = true;
  }

  #fileAt(path: string): LogFile {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const made = new LogFile({
      path,
      paths: this.#paths,
      logger: this.#logger,
      clock: this.#clock,
      onLost: (lines, reason) => this.lose(lines, reason),
    });
    this.#files.set(path, made);
    return made;
  }

  #report(reason: string): void {
    this.#logger.warn({ lines: this.#unreported, reason }, 'access log lines are lost');
    this.#unreported = 0;
  }
}
