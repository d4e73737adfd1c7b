// JSON objects (neither null nor a list), and the values that count as an absent text.
export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/** Returns whether an optional text is absent: `null` and an empty text count as absent (contract.md §0.2 J4, J5). */
export const isAbsentText = (sent: unknown): sent is undefined | null | '' =>
  sent === undefined || sent === null || sent === '';
