// Lengths of time and moments as people read them: `6m12s`, `2026-11-25 16:02`.

/** `450ms`, `41s`, `6m12s`, `2h5m`, `3d4h` */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = Math.round(ms / 1000);
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join('');
}

/** `2026-11-25 16:02`, UTC. */
export const minuteText = (at: Date): string => at.toISOString().slice(0, 16).replace('T', ' ');

/** `3m12s ago` */
export const agoText = (timestamp: string | null | undefined, now = Date.now()): string =>
  timestamp ? `${durationText(Math.max(0, now - Date.parse(timestamp)))} ago` : '';
