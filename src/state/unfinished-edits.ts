// Unfinished edits: entities that are staged otherwise than they are live. Secrets are no part of a snapshot: one counts
// where its value was captured for what is live and is another one now.
import { type Pair, pairsOf } from '../model/entity-diff.ts';
import { type ConfigKind, configKinds, type EditableKind } from '../model/kinds.ts';
import { referencesIn } from '../model/secret-reference.ts';
import type { LiveContent } from './live-base.ts';
import { Entity, isSame } from './stored-entity.ts';
import type { Stored } from './view.ts';

/** Present configuration, the one that is staged. */
export interface StagedLists {
  readonly entities: Readonly<Record<ConfigKind, readonly Stored[]>>;
  readonly secret: (id: string) => Stored | undefined;
}

/** Entity as it is live and as it is staged; undefined where it is not there. */
export interface UnfinishedEdit extends Pair<EditableKind> {
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
}

/** Yields the edits kind by kind, ascending by id; undefined wherever others may have their turn. */
export function* unfinishedEdits(live: LiveContent, staged: StagedLists): Generator<UnfinishedEdit | undefined> {
  for (const kind of configKinds) {
    let met = 0;
    const isAlike = (one: Stored, other: Stored): boolean => {
      met += 1;
      return one === other || one.revision === other.revision || isSame(one, other);
    };
    for (const pair of pairsOf(kind, live.entities[kind], staged.entities[kind], isAlike)) {
      yield pair;
      if (met < stride) continue;
      met = 0;
      yield undefined;
    }
  }
  yield* secretEdits(live, staged);
}

/** Entities that are compared between two pauses. */
const stride = 256;

function* secretEdits({ values }: LiveContent, { secret }: StagedLists): Generator<UnfinishedEdit> {
  for (const [text, value] of Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [reference] = referencesIn(text);
    if (reference?.source !== 'value') continue;
    const after = secret(reference.argument);
    if (after?.spec.value === value) continue;
    // Of a deleted secret nothing but the value is known any more.
    const { argument: id } = reference;
    const fields = after?.spec ?? { id, name: id };
    yield { kind: 'secrets', before: Entity.of(id, 0, { ...fields, value }), after };
  }
}
