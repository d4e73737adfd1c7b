// Headers that only a protection may set: a client's own lines of these names are removed, in every spelling that a
// backend may take for the same one (`x_user` for `x-user`), before the protection sets its values.
import type { LoneExchange } from '../exchange/phase.ts';
import { plainSpelling } from '../fields/field-name.ts';
import { compileNamePatterns } from './name-pattern.ts';

export interface ProtectedHeaders {
  /** No line of these names, however spelt, goes on. */
  strip(exchange: LoneExchange): void;
  /**
   * Removes the client's own lines when the protection does not run; what other middlewares have set stays.
   * Credentials stay: the backend verifies them. So does everything where the pattern is `*`.
   */
  stripClientHeaders(exchange: LoneExchange): void;
}

/** Names, or beginnings of names followed by `*`. */
export function protectedHeaders(patterns: readonly string[]): ProtectedHeaders {
  const plain = patterns.map((pattern) => plainSpelling(pattern.toLowerCase()));
  const isProtected = compileNamePatterns(plain);
  const isClientOnly = compileNamePatterns(
    plain.filter((pattern) => pattern !== '*' && !credentialHeaders.has(pattern)),
  );
  const exact = patterns.map((pattern) => pattern.toLowerCase()).filter((pattern) => !pattern.endsWith('*'));
  const everyLine = exact.length < patterns.length || exact.some((name) => name !== plainSpelling(name));
  return {
    strip(exchange) {
      const { lines, edits } = exchange.request;
      edits.protect(isProtected);
      for (const name of exact) exchange.removeRequestField(name);
      for (let line = 0; line < lines.count; line++) {
        const name = lines.name(line);
        if (!everyLine && !name.includes('_')) continue;
        const lower = name.toLowerCase();
        if (isProtected(plainSpelling(lower))) exchange.removeRequestField(lower);
      }
    },
    stripClientHeaders(exchange) {
      const { lines, edits } = exchange.request;
      edits.protect(isClientOnly);
      for (let line = 0; line < lines.count; line++) {
        const lower = lines.name(line).toLowerCase();
        if (isClientOnly(plainSpelling(lower))) exchange.stripRequestField(lower);
      }
    },
  };
}

/**
 * A service has decided about these names of its own accord: no line of the client's goes on that a backend may take for
 * one of them. Lines that are spelt as it spells them are its own to replace.
 */
export function stripLookalikes(exchange: LoneExchange, names: readonly string[]): void {
  if (names.length === 0) return;
  const decided = new Set(names.map((name) => name.toLowerCase()));
  const plain = new Set([...decided].map(plainSpelling));
  const { lines } = exchange.request;
  for (let line = 0; line < lines.count; line++) {
    const lower = lines.name(line).toLowerCase();
    if (!decided.has(lower) && plain.has(plainSpelling(lower))) exchange.stripRequestField(lower);
  }
}

const credentialHeaders: ReadonlySet<string> = new Set(['authorization', 'cookie']);
