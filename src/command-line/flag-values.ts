// Values of flags: durations that a timer of this process waits for, and whole numbers.
import { parseDuration } from '../model/duration.ts';
import { wrongUsage } from './exit.ts';

/** Longest time that a timer of Node waits, in milliseconds: 24.8 days. A longer one would fire at once. */
const timerMax = 2 ** 31 - 1;

/** Returns the milliseconds of a flag, such as `--timeout 10s`. Throws wrong usage. */
export function durationGiven(flag: string, text: string, example: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms <= 0) throw wrongUsage(`--${flag} must be a duration such as ${example}, not ${text}`);
  if (ms > timerMax) throw wrongUsage(`--${flag} must be at most 596h, not ${text}`);
  return ms;
}

/** Returns the whole number of a flag, such as `--limit 20`, which is 1 at least unless `min` says otherwise. Throws wrong usage. */
export function numberGiven(flag: string, text: string, { min = 1, max = Number.MAX_SAFE_INTEGER } = {}): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`;
  throw wrongUsage(`--${flag} must be a number ${range}, not ${text}`);
}
