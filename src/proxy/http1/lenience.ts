// Lenience: forms of responses that RFC 9112 forbids and that a destination may be allowed (`options.lenient`,
// contract.md §2.3). Requests of clients are always read strictly.
import type { LenientForm } from '../../model/destination-options.ts';

export type Lenience = Readonly<Record<LenientForm, boolean>>;

/** Returns undefined when no form is allowed: the strict parsers apply. */
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
