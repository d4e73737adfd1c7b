// unprotected-sibling: most routes to a destination pass a protection, and one does not.
import { consumerFinders } from '../../proxy/consumers/consumer-finders.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { nameOf, placeOf, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

const protections: readonly string[] = [...consumerFinders.keys(), 'inlineAuthz', 'extAuthz'];
/** Fewest routes that make a protection usual. */
const usualMin = 2;

interface Siblings {
  /** Entries that pass a protection, by the id of their route. */
  readonly guarded: Map<string, RankedEntry>;
  /** Entries that pass none. */
  readonly open: RankedEntry[];
}

export function* unprotectedSiblings(subject: Subject): Generator<void, readonly RawFinding[]> {
  const byDestination = new Map<string, Siblings>();
  const open: RankedEntry[] = [];
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    // A closed entry without a protection reaches nothing.
    if (!isProtected(subject, entry)) open.push(...(entry.closed === undefined ? [entry] : []));
    else for (const id of destinationsOf(entry)) siblingsAt(byDestination, id).guarded.set(entry.route.id, entry);
  }
  if (byDestination.size === 0) return [];
  for (const entry of open) {
    if (subject.isPause()) yield;
    for (const id of destinationsOf(entry)) byDestination.get(id)?.open.push(entry);
  }
  const found: RawFinding[] = [];
  for (const [id, siblings] of byDestination) {
    // A route that one of its groups leaves open counts as open.
    const openRoutes = new Set(siblings.open.map(({ route }) => route.id));
    const guarded = [...siblings.guarded.values()].filter(({ route }) => !openRoutes.has(route.id));
    if (guarded.length < usualMin || guarded.length <= openRoutes.size) continue;
    const name = subject.configuration.destinations.find((each) => each.id === id)?.name ?? id;
    for (const entry of siblings.open) {
      yield;
      const witness = subject.servedBy(entry);
      if (witness === undefined) continue;
      found.push({
        severity: 'warning',
        ...placeOf(entry, '/middlewareIds'),
        message: `${nameOf(entry)} reaches destination "${name}" without the protection that ${guarded.length} of its ${guarded.length + openRoutes.size} routes pass`,
        witness,
        because: guarded.slice(0, becauseMax).map((each) => placeOf(each, '/middlewareIds')),
        madeOf: [entry],
      });
    }
  }
  return found;
}

function siblingsAt(map: Map<string, Siblings>, id: string): Siblings {
  const known = map.get(id) ?? { guarded: new Map(), open: [] };
  map.set(id, known);
  return known;
}

const becauseMax = 10;

const isProtected = (subject: Subject, entry: RankedEntry): boolean =>
  entry.chain.some(({ middleware, disabled }) => !disabled && protections.includes(middleware?.type ?? '')) ||
  asksCertificate(subject, entry);

function asksCertificate(subject: Subject, entry: RankedEntry): boolean {
  const listeners = subject.listenersOf(entry);
  return listeners.length > 0 && listeners.every(({ tls }) => tls?.clientAuth?.mode === 'require');
}

/** Destinations that get requests of the entry. */
function destinationsOf({ route }: RankedEntry): ReadonlySet<string> {
  const all = route.forward?.destinations ?? [];
  const taking = all.length === 1 ? all : all.filter(({ weight = 0 }) => weight > 0);
  return new Set(taking.flatMap(({ destinationId }) => destinationId ?? []));
}
