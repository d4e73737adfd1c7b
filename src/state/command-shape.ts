// Small questions about the shape of what the log carries.
import { isCount, isObject } from '../model/json-object.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

export const isIfMatch = (value: unknown): boolean => value === '*' || (Array.isArray(value) && value.every(isCount));

export const isTexts = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((text) => typeof text === 'string');

export const isOptionalText = (value: unknown): boolean => value === undefined || typeof value === 'string';

/** Returns the problem of the author and the comment. */
export function auditProblemOf({ by, comment, sha256 }: Fields): string | undefined {
  return [by, comment, sha256].every(isOptionalText) ? undefined : 'has an account that is no text';
}
