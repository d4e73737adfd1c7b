// Texts for callers who may not see what references resolved to (architecture.md §6.12).
import { maskable, withoutTexts } from '../model/secret-texts.ts';

/** The text with every value in it shown as `***`. `values`: by reference. */
export const withoutValues = (text: string, values: Readonly<Record<string, string>>): string =>
  withoutTexts(text, maskable(Object.values(values)));
