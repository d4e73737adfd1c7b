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

interface NamedEntity {
  readonly id: string;
}

interface MiddlewareStep extends NamedEntity {
  readonly effect?: { readonly changes?: readonly { readonly name: string; readonly value: string | null }[] };
}

interface RouteOutcome {
  readonly upstream?: { readonly target: string; readonly host: string };
  readonly location?: string;
}

interface HashedDestination {
  readonly hashed?: string;
  readonly key?: number;
}

export function maskedExplanation(explanation: ShownExplanation, captured: Captured): object {
  const masked = valueWithoutTexts(explanation, secretTexts(captured)) as ShownExplanation;
  const changing = new Set(holderIds(captured, 'middlewares', ''));
  const { winner, middlewares = [], outcome, choice } = masked;
  const isRewritten = holderIds(captured, 'routes', '/forward/rewrite').includes(winner?.route.id ?? '');
  const isRedirected = holderIds(captured, 'routes', '/redirect').includes(winner?.route.id ?? '');
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
          ...((isRewritten || hostIsHidden) && { host: mask }),
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
  const hidden = changes.map((change) => ({ ...change, value: change.value === null ? null : mask }));
  return { ...step, effect: { ...step.effect, changes: hidden } };
}

/** Removes the hash key, since the checksum of a secret would help to guess it. */
function withoutKey(destination: HashedDestination, { choice }: ShownExplanation, at: number): HashedDestination {
  if (destination.hashed === choice?.destinations[at]?.hashed) return destination;
  const { key: _, ...rest } = destination;
  return rest;
}
