// Masked texts for callers who may not see the values of references (architecture.md §6.12).
import { type Problem, pointerOf } from '../model/problem.ts';
import { withoutSecrets } from '../model/secret-problems.ts';
import { findReferences } from '../model/secret-reference.ts';
import { maskable, valueAt, withoutTexts } from '../model/secret-texts.ts';
import { resolvedSpec } from '../snapshot/build.ts';
import { holdersIn } from '../snapshot/listing.ts';
import type { Captured } from '../snapshot/staged.ts';

const known = new WeakMap<Captured['entities'], readonly string[]>();

/** Values of references, and the strings in which they stand, as `withoutTexts` takes them. */
export function secretTexts(captured: Captured): readonly string[] {
  const found = known.get(captured.entities) ?? maskable([...Object.values(captured.values), ...wholeTexts(captured)]);
  known.set(captured.entities, found);
  return found;
}

function* wholeTexts({ entities, values }: Captured): Generator<string> {
  for (const { entity } of holdersIn(entities)) {
    const resolved = resolvedSpec(entity, values);
    for (const { valuePointer } of findReferences(entity.spec)) {
      const text = valueAt(resolved, valuePointer);
      if (typeof text === 'string') yield text;
    }
  }
}

/** Masks problems of a configuration with resolved references: values in them are `***`, and strings of secrets are left out. */
export function maskedProblems(problems: readonly Problem[], captured: Captured): Problem[] {
  if (problems.length === 0) return [];
  const pointers = holdersIn(captured.entities).flatMap(({ kind, entity }) =>
    findReferences(entity.spec).map(({ valuePointer }) => pointerOf(kind, entity.id) + valuePointer),
  );
  const texts = secretTexts(captured);
  return withoutSecrets(problems, pointers).map(({ pointer, message }) => ({
    pointer,
    message: withoutTexts(message, texts),
  }));
}
