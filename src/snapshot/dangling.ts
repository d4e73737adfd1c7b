// Ids in a configuration that lead nowhere. A missing middleware would take a protection away, so it is a problem; the
// rest is a warning, which `?strict=true` turns into a problem (architecture.md §6.11, contract.md §2.1).
import { type ConfigKind, nounOf } from '../model/kinds.ts';
import { type Problem, pointerOf } from '../model/problem.ts';
import type { Configuration } from '../model/proxy-config.ts';

export interface ReferenceProblems {
  /** The snapshot is refused. */
  readonly problems: readonly Problem[];
  /** The snapshot is made and its answer says so. */
  readonly warnings: readonly Problem[];
}

interface Place {
  readonly in: ConfigKind;
  /** `*` stands for every element of a list. */
  readonly path: readonly string[];
  readonly to: ConfigKind;
}

/** Every field that holds the id of another entity. */
const places: readonly Place[] = [
  { in: 'routes', path: ['forward', 'destinations', '*', 'destinationId'], to: 'destinations' },
  { in: 'routes', path: ['forward', 'mirror', 'destinationId'], to: 'destinations' },
  { in: 'routes', path: ['middlewareIds', '*'], to: 'middlewares' },
  { in: 'groups', path: ['routeIds', '*'], to: 'routes' },
  { in: 'groups', path: ['middlewareIds', '*'], to: 'middlewares' },
  { in: 'middlewares', path: ['jwt', 'jwksDestinationId'], to: 'destinations' },
  { in: 'middlewares', path: ['extAuthz', 'destinationId'], to: 'destinations' },
  { in: 'middlewares', path: ['extProc', 'destinationId'], to: 'destinations' },
];

/** Looks at a configuration with its references resolved. Pointers are `/<kind>/<id>/…`. */
export function findDangling(configuration: Configuration): ReferenceProblems {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const place of places) {
    const known = new Set(configuration[place.to].map(({ id }) => id));
    const found = place.to === 'middlewares' ? problems : warnings;
    for (const entity of configuration[place.in]) {
      const dangling = danglingIn(entity, place, known);
      if (dangling.length > 0) found.push(...dangling);
    }
  }
  return { problems, warnings };
}

function danglingIn(entity: { readonly id: string }, place: Place, known: ReadonlySet<string>): Problem[] {
  if (isUnusedBlock(entity, place)) return none;
  let found: Problem[] | undefined;
  eachText(entity, place.path, 0, (text, steps) => {
    if (known.has(text)) return;
    found ??= [];
    const pointer = pointerOf(place.in, entity.id, ...steps);
    found.push({ pointer, message: `names ${nounOf(place.to)} "${text}", which does not exist` });
  });
  return found ?? none;
}

const none: Problem[] = [];

/** Of a middleware only the block of its type counts (contract.md §2.7). */
const isUnusedBlock = (entity: object, place: Place): boolean =>
  place.in === 'middlewares' && !('type' in entity && entity.type === place.path[0]);

type OnText = (text: string, steps: readonly (string | number)[]) => void;

/** Nearly every text leads somewhere, so that nothing is made of one before it is known not to. */
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
