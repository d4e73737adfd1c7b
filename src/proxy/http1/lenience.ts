// Forms of responses that RFC 9112 does not allow and a destination may be allowed all the same
// (`options.lenient`, contract.md §2.3). None ever holds for what clients send.
import type { LenientForm } from '../../model/destination-options.ts';

export type Lenience = Readonly<Record<LenientForm, boolean>>;

/** Undefined when no form is allowed: the strict parsers do. */
export function lenienceOf(forms: readonly LenientForm[] = []): Lenience | undefined {
  if (forms.length === 0) return undefined;
  return {
    bareLf: forms.includes('bareLf'),
    duplicateContentLength: forms.includes('duplicateContentLength'),
    spaceBeforeColon: forms.includes('spaceBeforeColon'),
    paddedChunkSize: forms.includes('paddedChunkSize'),
    controlBytes: forms.includes('controlBytes'),
  };
}
