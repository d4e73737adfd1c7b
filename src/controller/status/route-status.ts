// Statuses that are lists with an entry for each parent or ancestor, which other controllers share: their entries and the
// order stay.
import { isDeepStrictEqual } from 'node:util';
import { type StoredCondition, storedConditions } from '../graph/condition.ts';
import type { ParentReference, PolicyFacts, RouteFacts } from '../graph/facts.ts';

export interface StoredEntry {
  readonly controllerName: string;
  readonly conditions?: readonly StoredCondition[];
  readonly [field: string]: unknown;
}

interface WantedEntry {
  /** `parentRef` or `ancestorRef`. */
  readonly reference: object;
  readonly conditions: readonly {
    type: string;
    status: 'True' | 'False' | 'Unknown';
    reason: string;
    message: string;
  }[];
}

interface ListFrame {
  readonly controllerName: string;
  readonly generation: number;
  readonly now: string;
}

export const parentsOf = (
  facts: RouteFacts | undefined,
  stored: readonly StoredEntry[],
  frame: Omit<ListFrame, 'generation'>,
): StoredEntry[] =>
  entries(
    'parentRef',
    stored,
    facts?.parents.map(({ reference, conditions }) => ({ reference: whole(reference), conditions })) ?? [],
    {
      ...frame,
      generation: facts?.generation ?? 0,
    },
  );

/** Returns a reference with the defaults that the API server fills in, in one order. */
const whole = ({ group, kind, namespace, name, sectionName, port }: ParentReference): object => ({
  group: group ?? 'gateway.networking.k8s.io',
  kind: kind ?? 'Gateway',
  ...(namespace !== undefined && { namespace }),
  name,
  ...(sectionName !== undefined && { sectionName }),
  ...(port !== undefined && { port }),
});

/** Most ancestors that a status may have. */
const ancestorsMax = 16;

export function ancestorsOf(
  facts: PolicyFacts | undefined,
  stored: readonly StoredEntry[],
  frame: Omit<ListFrame, 'generation'>,
): StoredEntry[] {
  const foreign = stored.filter(({ controllerName }) => controllerName !== frame.controllerName).length;
  const wanted = (facts?.ancestors ?? []).slice(0, ancestorsMax - foreign).map((key) => {
    const [namespace, name] = key.split('/');
    const reference = { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace, name };
    return { reference, conditions: facts?.conditions ?? [] };
  });
  return entries('ancestorRef', stored, wanted, { ...frame, generation: facts?.generation ?? 0 });
}

function entries(
  field: 'parentRef' | 'ancestorRef',
  stored: readonly StoredEntry[],
  wanted: readonly WantedEntry[],
  { controllerName, generation, now }: ListFrame,
): StoredEntry[] {
  const isOwn = (entry: StoredEntry): boolean => entry.controllerName === controllerName;
  const isOf = (entry: StoredEntry, { reference }: WantedEntry): boolean =>
    isOwn(entry) && isDeepStrictEqual(entry[field], reference);
  const made = (each: WantedEntry, before: StoredEntry | undefined): StoredEntry => ({
    [field]: each.reference,
    controllerName,
    conditions: [
      ...storedConditions(each.conditions, before?.conditions, generation, now),
      ...(before?.conditions ?? []).filter(({ type }) => !ownTypes.has(type)),
    ],
  });
  const kept = stored.flatMap((entry) => {
    if (!isOwn(entry)) return [entry];
    const match = wanted.find((each) => isOf(entry, each));
    return match === undefined ? [] : [made(match, entry)];
  });
  const added = wanted
    .filter((each) => !stored.some((entry) => isOf(entry, each)))
    .map((each) => made(each, undefined));
  return [...kept, ...added];
}

/** Types of conditions that this controller gives to routes and policies; others in its entries are of other programs. */
const ownTypes = new Set(['Accepted', 'ResolvedRefs', 'PartiallyInvalid']);
