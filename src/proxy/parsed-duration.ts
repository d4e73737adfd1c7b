// Durations of the configuration with the defaults that the proxy gives them.
import { parseDuration } from '../model/duration.ts';

/**
 * Milliseconds of `text`, or of `fallback` when it is absent: a duration of src/model/defaults.ts, or milliseconds where
 * absence has a meaning of its own. What is no duration the API does not admit.
 */
export function durationMs(text: string | undefined, fallback: string | number): number {
  const own = text === undefined ? undefined : parseDuration(text);
  return own ?? (typeof fallback === 'number' ? fallback : (parseDuration(fallback) ?? 0));
}
