// Durations of Traefik: Go's (`1m30s`), or a number of seconds.
import { parseDuration } from '../../../model/duration.ts';

/** Returns seconds, or undefined for a text that is none. */
export function traefikSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const milliseconds = parseDuration(text);
  return milliseconds === undefined ? undefined : milliseconds / 1000;
}
