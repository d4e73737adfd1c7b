// Durations of the configuration with the defaults that the proxy gives them.
import { parseDuration } from '../model/duration.ts';

/** Milliseconds of `text`; `fallbackMs` when it is absent. What is no duration the API does not admit. */
export const durationMs = (text: string | undefined, fallbackMs: number): number =>
  text === undefined ? fallbackMs : (parseDuration(text) ?? fallbackMs);
