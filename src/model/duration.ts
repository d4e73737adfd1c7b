// Durations as they are written in the API and the settings: `1h30m`, `1.5s`, `100ms`, `0` (contract.md §0.3).

const millisecondsPer: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // U+00B5
  μs: 1e-3, // U+03BC
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const term = /(\d+(?:\.\d+)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;
const whole = /^[+-]?(?:0|(?:(?:\d+(?:\.\d+)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;

/** 2^63 − 1 ns: what the typed clients that share this grammar can hold. About 292 years. */
const millisecondsMax = 9_223_372_036_854.775;

/** Milliseconds, fractions allowed, negative when written so. Undefined when the text is not a duration. */
export const parseDuration = (text: string): number | undefined => {
  if (!whole.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(term)) total += Number(amount) * (millisecondsPer[unit ?? ''] ?? 0);
  if (total > millisecondsMax) return undefined;
  return text.startsWith('-') && total !== 0 ? -total : total;
};
