// Explanations for callers who may not see values of secrets: a text that contains a configured string is `***`, as a whole
// where an expression may have transformed the string.

import type { DestinationChoice, EntryOutcome, ExplainedChange } from '../../model/answers/explained-outcome.ts';
import type { ExplainMiddleware, RequestExplanation } from '../../model/answers/explanation.ts';
import type { ConnectionExplanation } from '../../model/answers/stream-explanation.ts';
import { findReferences } from '../../model/secret-reference.ts';
import { mask, valueWithoutTexts } from '../../model/secret-texts.ts';
import { listingOf } from '../../snapshot/listing.ts';
import type { Captured } from '../../snapshot/staged.ts';
import { secretTexts } from '../masked-values.ts';

/** Explanation of a request or of a connection. */
type AnyExplanation = RequestExplanation | ConnectionExplanation;

/** Share whose choice hashes a text. */
type HashedTarget = DestinationChoice['destinations'][number] & { readonly hashed?: string; readonly key?: number };

export function maskedExplanation(explanation: AnyExplanation, captured: Captured): AnyExplanation {
  const masked = valueWithoutTexts(explanation, secretTexts(captured)) as AnyExplanation;
  // Nothing of a connection is made of what it sends.
  if ('streamRoute' in masked || 'streamRoute' in explanation) return masked;
  const changing = new Set(holderIds(captured, 'middlewares', ''));
  const { winner, middlewares, outcome, choice } = masked;
  const holds = (...pointers: readonly string[]): boolean =>
    pointers.some((pointer) => holderIds(captured, 'routes', pointer).includes(winner?.route.id ?? ''));
  const hostIsHidden = middlewares.some(
    ({ id, effect }) => changing.has(id) && changesOf(effect).some(({ name }) => name.toLowerCase() === 'host'),
  );
  return {
    ...masked,
    middlewares: middlewares.map((step) => (changing.has(step.id) ? withoutValues(step) : step)),
    outcome: maskedOutcome(outcome, {
      isRewritten: holds('/forward/rewrite', '/forward/destinations'),
      isRedirected: holds('/redirect'),
      isEdited: holds('/forward/headers', '/forward/destinations'),
      hostIsHidden,
    }),
    ...(choice !== undefined && {
      choice: {
        ...choice,
        destinations: choice.destinations.map((one, at) => withoutKey(one, explanation.choice, at)),
      },
    }),
  };
}

/** Parts of the outcome that secrets have made. */
interface Hidden {
  readonly isRewritten: boolean;
  readonly isRedirected: boolean;
  readonly isEdited: boolean;
  readonly hostIsHidden: boolean;
}

function maskedOutcome(
  outcome: EntryOutcome,
  { isRewritten, isRedirected, isEdited, hostIsHidden }: Hidden,
): EntryOutcome {
  if (outcome.action === 'redirect') return isRedirected ? { ...outcome, location: mask } : outcome;
  if (outcome.action !== 'forward') return outcome;
  const { upstream } = outcome;
  return {
    ...outcome,
    upstream: {
      ...upstream,
      ...(isRewritten && { target: mask }),
      ...((isRewritten || isEdited || hostIsHidden) && { host: mask }),
      ...(upstream.changes !== undefined && isEdited && { changes: hidden(upstream.changes) }),
    },
  };
}

/** Ids of entities that hold a reference at the JSON pointer or below it. */
const holderIds = ({ entities }: Captured, kind: 'middlewares' | 'routes', pointer: string): string[] =>
  [...listingOf(kind, entities[kind]).holders.values()]
    .filter(({ spec }) => findReferences(spec).some((found) => found.pointer.startsWith(`${pointer}/`)))
    .map(({ id }) => id);

const changesOf = (effect: ExplainMiddleware['effect']): readonly ExplainedChange[] =>
  effect?.kind === 'passes' ? (effect.changes ?? []) : [];

function withoutValues(step: ExplainMiddleware): ExplainMiddleware {
  const { effect } = step;
  if (effect?.kind !== 'passes' || effect.changes === undefined) return step;
  return { ...step, effect: { ...effect, changes: hidden(effect.changes) } };
}

const hidden = (changes: readonly ExplainedChange[]): readonly ExplainedChange[] =>
  changes.map((change) => ({ ...change, value: change.value === null ? null : mask }));

/** Removes the hash key, since the checksum of a secret would help to guess it. */
function withoutKey(destination: HashedTarget, choice: DestinationChoice | undefined, at: number): HashedTarget {
  const unmasked: HashedTarget | undefined = choice?.destinations[at];
  if (destination.hashed === unmasked?.hashed) return destination;
  const { key: _, ...rest } = destination;
  return rest;
}
