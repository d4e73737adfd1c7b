// Log levels of the modules of the process, changed at run time. The levels lie in shared memory, so that a thread
// reads them before it makes a line, and a change needs no message.
import type { ShownLogLevels } from '../model/answers/log-level-answers.ts';
import { type LogLevel, type LogModule, logLevels, logModules } from '../model/log-module.ts';

/** The level of one module: one int32, its place in `logLevels`. */
export class LevelCell {
  readonly bytes: SharedArrayBuffer;
  readonly #cell: Int32Array;

  constructor(bytes = new SharedArrayBuffer(4)) {
    this.bytes = bytes;
    this.#cell = new Int32Array(bytes);
  }

  get level(): LogLevel {
    return logLevels[Atomics.load(this.#cell, 0)] ?? 'info';
  }

  set level(level: LogLevel) {
    Atomics.store(this.#cell, 0, logLevels.indexOf(level));
  }

  allows(level: LogLevel): boolean {
    return logLevels.indexOf(level) >= Atomics.load(this.#cell, 0);
  }
}

export class LogLevels {
  readonly #cells = new Map<LogModule, LevelCell>(logModules.map((module) => [module, new LevelCell()]));
  /** Level of modules without one of their own. */
  #common: LogLevel;
  readonly #own = new Map<LogModule, LogLevel>();

  constructor(level: LogLevel) {
    this.#common = level;
    this.#settle();
  }

  cell(module: LogModule): LevelCell {
    return this.#cells.get(module) ?? new LevelCell();
  }

  /** Sets the level of one module, or of all without `module`. */
  set(level: LogLevel, module?: LogModule): void {
    if (module === undefined) {
      this.#common = level;
      this.#own.clear();
    } else this.#own.set(module, level);
    this.#settle();
  }

  /** Levels of all modules. */
  get all(): ShownLogLevels {
    const modules = Object.fromEntries(logModules.map((module) => [module, this.cell(module).level]));
    return { level: this.#common, modules: modules as Record<LogModule, LogLevel> };
  }

  #settle(): void {
    for (const [module, cell] of this.#cells) cell.level = this.#own.get(module) ?? this.#common;
  }
}
