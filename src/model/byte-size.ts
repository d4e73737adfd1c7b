// Numbers of bytes as texts: `512`, `64KiB`, `1MiB`. A leaf, because the proxy must not load the decorated classes.

export const byteSizePattern = '^(0|[1-9][0-9]{0,9})(B|KiB|MiB)?$';

const units: Readonly<Record<string, number>> = { B: 1, KiB: 1 << 10, MiB: 1 << 20 };

/** Returns the number of bytes; undefined for a text of another form. */
export function parseByteSize(text: string): number | undefined {
  const [, number, unit = 'B'] = new RegExp(byteSizePattern).exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (units[unit] ?? 1);
}
