// What JSON calls an object: not null, and no list. And what counts as nothing in one.
export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Of a text that need not be there: `null` and an empty one are the same as none (contract.md §0.2 J4, J5). */
export const isAbsentText = (sent: unknown): sent is undefined | null | '' =>
  sent === undefined || sent === null || sent === '';
