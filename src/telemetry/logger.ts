// One logger for the process, made in main.ts and handed down (contract.md §1.6).
import { type Logger as Pino, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';
import type { Traces } from './traces/traces.ts';

export type LogFormat = 'console' | 'json';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

type Fields = Readonly<Record<string, unknown>>;

/** Fields first, then what happened, in the present tense. Values of secrets never go in. */
export interface Logger {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
  /** The same logger with `fields` on every line. */
  child(fields: Fields): Logger;
}

/** What is handed down beside the clock. */
export interface Telemetry {
  readonly logger: Logger;
  /** Undefined or absent: nothing is traced. */
  readonly traces?: Traces | undefined;
}

export function createLogger({ format, level }: { format: LogFormat; level: LogLevel }): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (format === 'json') {
    return pino({ ...options, formatters: { level: (label) => ({ level: label }) } }, pino.destination(1));
  }
  const stream = PinoPretty({
    sync: true,
    destination: 1,
    colorize: process.stdout.isTTY === true,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
  });
  return pino(options, stream);
}

/** Drops everything; for tests that do not look at the log. */
export const silentLogger: Logger = pino({ enabled: false }) satisfies Pino;
