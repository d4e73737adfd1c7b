// Section `recentRequests`: size of the request log, and the recorded headers (observability.md).
import type { Section } from './section.ts';

export interface RecentRequestSettings {
  /** Number of records that are kept; 0: none. */
  readonly slots: number;
  /** Names of the fields whose values are kept, in lower case. */
  readonly headers: readonly string[];
}

const slotsMax = 100_000;
const usualSlots = 10_000;
const headersMax = 16;
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;

export function readRecentRequests(section: Section | undefined): RecentRequestSettings {
  if (section === undefined) return { slots: usualSlots, headers: [] };
  const slots = section.integer('recentRequests', { min: 0, max: slotsMax, otherwise: usualSlots });
  const names = section.texts('recentRequestHeaders') ?? [];
  if (names.length > headersMax) section.error('recentRequestHeaders', `must have at most ${headersMax} entries`);
  names.forEach((name, at) => {
    if (!fieldName.test(name) || name === '__proto__')
      section.error(`recentRequestHeaders[${at}]`, 'must be the name of a header');
  });
  return { slots, headers: [...new Set(names.map((name) => name.toLowerCase()))] };
}
