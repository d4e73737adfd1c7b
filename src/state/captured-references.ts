// References that the entities of a snapshot hold, each once. Texts without the marker are not parsed: of ten thousand
// routes only those with a secret cost anything.
import { configKinds } from '../model/kinds.ts';
import { findReferences, type SecretReference } from '../model/secret-reference.ts';
import type { StoredSnapshot } from './view.ts';

export function capturedReferences(entities: StoredSnapshot['entities']): readonly SecretReference[] {
  const found = new Map<string, SecretReference>();
  for (const kind of configKinds) {
    for (const entity of entities[kind]) {
      if (!entity.holdsReferences) continue;
      for (const reference of findReferences(entity.spec)) found.set(reference.text, reference);
    }
  }
  return [...found.values()];
}
