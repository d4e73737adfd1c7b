// References to secrets of Sluice in texts of objects. None is passed on: it would be replaced by any secret that Sluice has,
// keys of other namespaces, variables and files of its nodes among them, without a ReferenceGrant.
import { mayHoldReferences } from '../../model/secret-reference.ts';
import { type Condition, isFalse } from '../graph/condition.ts';
import type { Entity } from '../graph/facts.ts';

export const foreignReference = 'texts may not refer to secrets of Sluice ({{secret:…}})';

/** Returns whether a text of an object refers to a secret. */
export const refersToSecrets = (part: unknown): boolean => mayHoldReferences(JSON.stringify(part) ?? '');

/** Returns why entities made of texts of a route are not passed on. */
export function refusalOfReferences(entities: readonly Entity[]): Condition | undefined {
  return entities.some(({ body }) => refersToSecrets(body))
    ? isFalse('Accepted', 'UnsupportedValue', foreignReference)
    : undefined;
}
