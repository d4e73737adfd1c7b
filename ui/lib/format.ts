// Numbers and times as they are shown.

export function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return '–';
  if (perSecond === 0) return '0/s';
  return perSecond < 10
    ? `${perSecond.toFixed(perSecond < 0.1 ? 2 : 1)}/s`
    : `${Math.round(perSecond).toLocaleString('en')}/s`;
}

export function percent(share: number | undefined): string {
  if (share === undefined) return '–';
  return share === 0 ? '0 %' : share < 0.001 ? '< 0.1 %' : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

export function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value >= 1_000) return `${(value / 1_000).toFixed(1)} s`;
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function bytes(count: number): string {
  const power = Math.min(byteUnits.length - 1, Math.floor(Math.log2(Math.max(1, count)) / 10));
  const value = count / 1024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${byteUnits[power]}`;
}

export function ago(time: string | null | undefined, nowMs = Date.now()): string {
  if (time === null || time === undefined || time === '') return 'never';
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(time)) / 1_000));
  if (seconds < 5) return 'now';
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}

export const moment = (time: string | null | undefined): string =>
  time === null || time === undefined
    ? '–'
    : new Date(time)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z/, 'Z');

export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : noun.replace(/(?<![aeiou])y$/, 'ie').concat('s')}`;

/** Returns a value as it is shown in a difference. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return '(absent)';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
