// unprotected-sibling: most routes to a destination pass a protection, and one does not.
import { consumerFinders } from '../../proxy/consumers/consumer-finders.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { nameOf, placeOf, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

const protections: readonly string[] = [...consumerFinders.keys(), 'inlineAuthz', 'extAuthz'];
/** Fewest routes that make a protection usual. */
const usualMin = 2;

export function* unprotectedSiblings(subject: Subject): Generator<void, readonly RawFinding[]> {
  const byDestination = new Map<string, { guarded: RankedEntry[]; open: RankedEntry[] }>();
  const open: RankedEntry[] = [];
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    if (!isProtected(subject, entry)) open.push(entry);
    else for (const id of destinationsOf(entry)) getOrMake(byDestination, id).guarded.push(entry);
  }
  if (byDestination.size === 0) return [];
  for (const entry of open) {
    if (subject.isPause()) yield;
    for (const id of destinationsOf(entry)) byDestination.get(id)?.open.push(entry);
  }
  const found: RawFinding[] = [];
  for (const [id, { guarded, open }] of byDestination) {
    if (guarded.length < usualMin || guarded.length <= open.length) continue;
    const name = subject.configuration.destinations.find((each) => each.id === id)?.name ?? id;
    for (const entry of open) {
      yield;
      const witness = subject.servedBy(entry);
      if (witness === undefined) continue;
      found.push({
        severity: 'warning',
        ...placeOf(entry, '/middlewareIds'),
        message: `${nameOf(entry)} reaches destination "${name}" without the protection that ${guarded.length} of its ${guarded.length + open.length} routes pass`,
        witness,
        because: guarded.slice(0, becauseMax).map((each) => placeOf(each, '/middlewareIds')),
        madeOf: [entry],
      });
    }
  }
  return found;
}

function getOrMake(map: Map<string, { guarded: RankedEntry[]; open: RankedEntry[] }>, id: string) {
  const known = map.get(id) ?? { guarded: [], open: [] };
  map.set(id, known);
  return known;
}

const becauseMax = 10;

const isProtected = (subject: Subject, entry: RankedEntry): boolean =>
  entry.closed !== undefined ||
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
