// Explanations for callers who may not see values of secrets: a text that contains a configured string is `***`, as a whole
// where an expression may have transformed the string.

import { findReferences } from '../../model/secret-reference.ts';
import { mask, valueWithoutTexts } from '../../model/secret-texts.ts';
import { listingOf } from '../../snapshot/listing.ts';
import type { Captured } from '../../snapshot/staged.ts';
import { secretTexts } from '../masked-values.ts';

/** Parts of an explanation that are made of strings of the configuration. */
interface ShownExplanation {
  readonly winner?: { readonly route: NamedEntity; readonly group?: NamedEntity } | null;
  readonly middlewares?: readonly MiddlewareStep[];
  readonly outcome?: RouteOutcome;
  readonly choice?: { readonly destinations: readonly HashedDestination[] };
}

type Changes = readonly { readonly name: string; readonly value: string | null }[];

interface NamedEntity {
  readonly id: string;
}

interface MiddlewareStep extends NamedEntity {
  readonly effect?: { readonly changes?: Changes };
}

interface RouteOutcome {
  readonly upstream?: { readonly target: string; readonly host: string; readonly changes?: Changes };
  readonly location?: string;
}

interface HashedDestination {
  readonly hashed?: string;
  readonly key?: number;
}

export function maskedExplanation(explanation: ShownExplanation, captured: Captured): object {
  const masked = valueWithoutTexts(explanation, secretTexts(captured)) as ShownExplanation;
  // Nothing of a connection is made of what it sends.
  if ('streamRoute' in masked) return masked;
  const changing = new Set(holderIds(captured, 'middlewares', ''));
  const { winner, middlewares = [], outcome, choice } = masked;
  const holds = (...pointers: readonly string[]): boolean =>
    pointers.some((pointer) => holderIds(captured, 'routes', pointer).includes(winner?.route.id ?? ''));
  const isRewritten = holds('/forward/rewrite', '/forward/destinations');
  const isRedirected = holds('/redirect');
  const isEdited = holds('/forward/headers', '/forward/destinations');
  const hostIsHidden = middlewares.some(
    ({ id, effect }) => changing.has(id) && effect?.changes?.some(({ name }) => name.toLowerCase() === 'host'),
  );
  const { upstream, location } = outcome ?? {};
  return {
    ...masked,
    middlewares: middlewares.map((step) => (changing.has(step.id) ? withoutValues(step) : step)),
    outcome: {
      ...outcome,
      ...(location !== undefined && isRedirected && { location: mask }),
      ...(upstream !== undefined && {
        upstream: {
          ...upstream,
          ...(isRewritten && { target: mask }),
          ...((isRewritten || isEdited || hostIsHidden) && { host: mask }),
          ...(upstream.changes !== undefined && isEdited && { changes: hidden(upstream.changes) }),
        },
      }),
    },
    ...(choice !== undefined && {
      choice: { ...choice, destinations: choice.destinations.map((one, at) => withoutKey(one, explanation, at)) },
    }),
  };
}

/** Ids of entities that hold a reference at the JSON pointer or below it. */
const holderIds = ({ entities }: Captured, kind: 'middlewares' | 'routes', pointer: string): string[] =>
  [...listingOf(kind, entities[kind]).holders.values()]
    .filter(({ spec }) => findReferences(spec).some((found) => found.pointer.startsWith(`${pointer}/`)))
    .map(({ id }) => id);

function withoutValues(step: MiddlewareStep): MiddlewareStep {
  const changes = step.effect?.changes;
  if (changes === undefined) return step;
  return { ...step, effect: { ...step.effect, changes: hidden(changes) } };
}

const hidden = (changes: Changes): Changes =>
  changes.map((change) => ({ ...change, value: change.value === null ? null : mask }));

/** Removes the hash key, since the checksum of a secret would help to guess it. */
function withoutKey(destination: HashedDestination, { choice }: ShownExplanation, at: number): HashedDestination {
  if (destination.hashed === choice?.destinations[at]?.hashed) return destination;
  const { key: _, ...rest } = destination;
  return rest;
}
