// Logger, one for the process, made in main.ts and handed down (contract.md §1.6).

import { type DestinationStream, type Logger as Pino, pino } from 'pino';
import { packages } from '../../program/disk-packages.ts';
import type { LogLevel, LogModule } from '../model/log-module.ts';
import { bufferedLogStream } from './buffered-log-stream.ts';
import { type LevelCell, LogLevels } from './log-levels.ts';
import { LogOutput } from './log-output.ts';
import type { Traces } from './traces/traces.ts';

export type LogFormat = 'console' | 'json';

/** Names that the line itself has are not for fields: a key would be there twice. */
type LogFields = Readonly<Record<string, unknown>> & { readonly [name in 'level' | 'time' | 'msg']?: never };

/** Logger. Fields first, then what happened, in the present tense. Values of secrets never go in. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** The same logger with `fields` on every line. */
  child(fields: LogFields): Logger;
}

/** Logger, its level and traces, passed to the parts of a process. */
export interface Telemetry {
  readonly logger: Logger;
  /** Level that other threads read before they make a line. Default: they make all lines. */
  readonly level?: LevelCell | undefined;
  /** Undefined or absent: nothing is traced. */
  readonly traces?: Traces | undefined;
}

/** The logger of the process. By itself it is that of module `main`. */
export interface RootLogger extends Logger {
  readonly levels: LogLevels;
  module(name: LogModule): Logger;
  /** Writes text that is no line of the log, behind the lines before it. */
  print(text: string): void;
  /** Number of lines that could not be written since the start. */
  lostLines(): number;
}

export function createLogger({ format, level }: { format: LogFormat; level: LogLevel }): RootLogger {
  const levels = new LogLevels(level);
  const output = new LogOutput(stdout, (lost) => main.warn({ ...lost }, 'lines of the log were lost'));
  const lines = bufferedLogStream(output, (run) => process.once('exit', run));
  const sink = sinkOf(format, lines);
  const module = (name: LogModule): Logger => leveled(sink.child({ module: name }), levels.cell(name));
  const main = module('main');
  return Object.assign(main, {
    levels,
    module,
    print: (text: string) => lines.write(text),
    lostLines: () => output.lostLines,
  });
}

const stdout = 1;

/** Sink for every line, without a level of its own. */
function sinkOf(format: LogFormat, lines: DestinationStream): Pino {
  const options = { level: 'debug', base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (format === 'json') return pino({ ...options, formatters: { level: (label) => ({ level: label }) } }, lines);
  // Loaded for the text format alone.
  const pretty = packages.pinoPretty().prettyFactory({
    colorize: process.stdout.isTTY === true,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    ignore: 'module',
    messageFormat: '{if module}{module}: {end}{msg}',
  });
  return pino(options, { write: (line) => lines.write(pretty(line)) });
}

function leveled(sink: Pino, cell: LevelCell): Logger {
  const at =
    (level: LogLevel) =>
    (fields: LogFields, message: string): void => {
      if (cell.allows(level)) sink[level](fields, message);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => leveled(sink.child(fields), cell),
  };
}

/** Drops everything; for tests that do not look at the log. */
export const silentLogger: Logger = pino({ enabled: false }) satisfies Pino;
