// Ids in a configuration that lead nowhere. A missing middleware would take a protection away, so it is a problem; the
// rest is a warning, which `?strict=true` turns into a problem (architecture.md §6.11, contract.md §2.1).
import { type ConfigKind, nounOf } from '../model/kinds.ts';
import { sectionBinding } from '../model/listener-binding.ts';
import { type Problem, pointerOf } from '../model/problem.ts';
import { type Configuration, listOf } from '../model/proxy-config.ts';
import { disjointBindings } from './disjoint-bindings.ts';

export interface ReferenceProblems {
  /** The snapshot is refused. */
  readonly problems: readonly Problem[];
  /** Problems that the answer names although the snapshot is made. */
  readonly warnings: readonly Problem[];
}

export interface ReferenceField {
  readonly in: ConfigKind;
  /** `*` stands for every element of a list. */
  readonly path: readonly string[];
  readonly to: ConfigKind;
}

/** Every field that holds the id of another entity. The command line resolves names in them. */
export const places: readonly ReferenceField[] = [
  { in: 'routes', path: ['forward', 'destinations', '*', 'destinationId'], to: 'destinations' },
  { in: 'routes', path: ['forward', 'mirror', 'destinationId'], to: 'destinations' },
  { in: 'routes', path: ['forward', 'mirrors', '*', 'destinationId'], to: 'destinations' },
  { in: 'routes', path: ['listenerIds', '*'], to: 'listeners' },
  { in: 'routes', path: ['middlewareIds', '*'], to: 'middlewares' },
  { in: 'groups', path: ['routeIds', '*'], to: 'routes' },
  { in: 'groups', path: ['listenerIds', '*'], to: 'listeners' },
  { in: 'groups', path: ['middlewareIds', '*'], to: 'middlewares' },
  { in: 'streamRoutes', path: ['forward', 'destinations', '*', 'destinationId'], to: 'destinations' },
  { in: 'streamRoutes', path: ['match', 'listenerIds', '*'], to: 'listeners' },
  { in: 'streamRoutes', path: ['middlewareIds', '*'], to: 'middlewares' },
  { in: 'middlewares', path: ['jwt', 'jwksDestinationId'], to: 'destinations' },
  { in: 'middlewares', path: ['extAuthz', 'destinationId'], to: 'destinations' },
  { in: 'middlewares', path: ['extProc', 'destinationId'], to: 'destinations' },
];

/** Looks at a configuration with its references resolved, in steps. Pointers are `/<kind>/<id>/…`. */
export function* findDangling(configuration: Configuration): Generator<void, ReferenceProblems> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const place of places) {
    const entities: readonly { readonly id: string }[] = listOf(configuration, place.in);
    if (entities.length === 0) continue;
    const known = yield* idsOf(listOf(configuration, place.to));
    const found = place.to === 'middlewares' ? problems : warnings;
    for (const [at, entity] of entities.entries()) {
      if (at % stride === 0) yield;
      // Nearly every id leads somewhere: where one does not is looked for only then.
      if (leadsNowhere(entity, place.path, 0, known)) found.push(...danglingIn(entity, place, known));
    }
  }
  warnings.push(...(yield* disjointBindings(configuration)));
  return { problems, warnings };
}

/** Entities between two pauses. */
const stride = 256;

interface Referable {
  readonly id: string;
  /** Sections of a listener, which are referred to as `<listener>/<section>`. */
  readonly sections?: readonly { readonly name: string }[];
}

/** Ids of entities, and the names by which `listenerIds` knows sections; in steps. */
export function* idsOf(entities: readonly Referable[]): Generator<void, ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const { id, sections = [] } of entities) {
    ids.add(id);
    for (const { name } of sections) ids.add(sectionBinding(id, name));
    if (ids.size % stride === 0) yield;
  }
  return ids;
}

/** Returns whether any text there is unknown. */
function leadsNowhere(value: unknown, path: readonly string[], depth: number, known: ReadonlySet<string>): boolean {
  const step = path[depth];
  if (step === undefined) return typeof value === 'string' && !known.has(value);
  if (typeof value !== 'object' || value === null) return false;
  if (step !== '*') {
    if (!Object.hasOwn(value, step)) return false;
    return leadsNowhere((value as Readonly<Record<string, unknown>>)[step], path, depth + 1, known);
  }
  if (Array.isArray(value))
    for (let at = 0; at < value.length; at++) if (leadsNowhere(value[at], path, depth + 1, known)) return true;
  return false;
}

function danglingIn(entity: { readonly id: string }, place: ReferenceField, known: ReadonlySet<string>): Problem[] {
  if (isUnusedBlock(entity, place)) return [];
  const found: Problem[] = [];
  eachText(entity, place.path, 0, (text, steps) => {
    if (known.has(text)) return;
    const pointer = pointerOf(place.in, entity.id, ...steps);
    found.push({ pointer, message: `names ${nounOf(place.to)} "${text}", which does not exist` });
  });
  return found;
}

/** Returns whether a block of a middleware is unused: only the block of its type counts (contract.md §2.7). */
const isUnusedBlock = (entity: object, place: ReferenceField): boolean =>
  place.in === 'middlewares' && !('type' in entity && entity.type === place.path[0]);

type OnText = (text: string, steps: readonly (string | number)[]) => void;

function eachText(value: unknown, path: readonly string[], depth: number, onText: OnText): void {
  const step = path[depth];
  if (step === undefined) {
    if (typeof value === 'string') onText(value, []);
  } else if (typeof value !== 'object' || value === null) return;
  else if (step !== '*') {
    if (!Object.hasOwn(value, step)) return;
    const inner = (value as Readonly<Record<string, unknown>>)[step];
    eachText(inner, path, depth + 1, (text, steps) => onText(text, [step, ...steps]));
  } else if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++)
      eachText(value[at], path, depth + 1, (text, steps) => onText(text, [at, ...steps]));
  }
}
