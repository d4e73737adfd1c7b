// Text of the value of a `claimToHeaders` expression in a header (contract.md §8.4).

/** Undefined when nothing is to be sent: null, no value, an empty text. */
export function claimText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'string' ? value : jsonText(value);
  return text === '' ? undefined : text;
}

/** JSON, with ints of any size and whole doubles in plain decimal. */
function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value).toString() : String(value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return objectText([...value]);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return objectText(Object.entries(value));
  // Unsigned integers and durations of the expression language know how they are written.
  return String(value);
}

const objectText = (entries: readonly (readonly [unknown, unknown])[]): string =>
  `{${entries.map(([key, value]) => `${JSON.stringify(String(key))}:${jsonText(value)}`).join(',')}}`;
