// Listings of a capture: the specs, and the few entities that hold references. A list is immutable and is captured,
// checked and activated; it is scanned once, in steps where there are many.
import { type ConfigKind, configKinds } from '../model/kinds.ts';
import type { Spec } from '../state/command.ts';
import type { Stored } from '../state/view.ts';

export interface Listing {
  readonly list: readonly Stored[];
  /** As they are stored. */
  readonly specs: readonly Spec[];
  /** Those with references, by place. */
  readonly holders: ReadonlyMap<number, Stored>;
}

type Entities = Readonly<Record<ConfigKind, readonly Stored[]>>;

/** Latest listings of each kind, newest first: those of two configurations that are compared. */
const recent = new Map<ConfigKind, readonly Listing[]>();
const keptMax = 2;

const knownOf = (kind: ConfigKind, list: readonly Stored[]): Listing | undefined =>
  recent.get(kind)?.find((each) => each.list === list);

/** Costs nothing for lists that `scanEntities` has seen lately. */
export function listingOf(kind: ConfigKind, list: readonly Stored[]): Listing {
  const known = knownOf(kind, list);
  if (known !== undefined) return known;
  const steps = listed(kind, list);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Entities that hold references, kind by kind in the order of the lists. */
export const holdersIn = (entities: Entities): readonly { readonly kind: ConfigKind; readonly entity: Stored }[] =>
  configKinds.flatMap((kind) =>
    [...listingOf(kind, entities[kind]).holders.values()].map((entity) => ({ kind, entity })),
  );

/** Prepares `listingOf` for these lists: specs may have to be parsed, which takes a while for a hundred thousand. */
export function* scanEntities(entities: Entities): Generator<void, void> {
  for (const kind of configKinds) if (knownOf(kind, entities[kind]) === undefined) yield* listed(kind, entities[kind]);
}

function* listed(kind: ConfigKind, list: readonly Stored[]): Generator<void, Listing> {
  const specs: Spec[] = [];
  const holders = new Map<number, Stored>();
  for (const entity of list) {
    if (entity.holdsReferences) holders.set(specs.length, entity);
    specs.push(entity.spec);
    if (specs.length % 256 === 0) yield;
  }
  const listing = { list, specs, holders };
  recent.set(kind, [listing, ...(recent.get(kind) ?? [])].slice(0, keptMax));
  return listing;
}
