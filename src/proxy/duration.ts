// Durations of the configuration as the proxy uses them: `1h2m3.5s` → milliseconds.

const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 1e-6,
};
const part = /(\d+(?:\.\d+)?|\.\d+)(h|ms|m|s|us|µs|ns)/gy;

/** Milliseconds of `text`; `fallbackMs` when it is absent or no duration (the API admits none such). */
export function durationMs(text: string | undefined, fallbackMs: number): number {
  if (text === undefined || text === '') return fallbackMs;
  if (text === '0') return 0;
  let sum = 0;
  let end = 0;
  for (const match of text.matchAll(part)) {
    sum += Number(match[1]) * (unitMs[match[2] ?? ''] ?? 0);
    end = match.index + match[0].length;
  }
  return end === text.length ? sum : fallbackMs;
}
