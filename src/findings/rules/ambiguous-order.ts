// ambiguous-order: of two entries of one rank that match one request, a name, an id or a place in a list decides.
import type { Entry } from '../../proxy/match/route-entry.ts';
import { excludeEachOther } from '../conditions.ts';
import { nameOf, placeOf, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

/** Entries of one rank, path and host that an entry is compared with. */
const comparedMax = 64;

export function* ambiguousOrders(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  const ranks = new Map<string, Entry[]>();
  for (const entry of subject.entries) {
    yield;
    if (entry.bindings?.length === 0) continue;
    const keys = keysOf(entry);
    const earlier = new Set(keys.flatMap((key) => ranks.get(key) ?? []));
    for (const other of earlier) {
      const finding = excludeEachOther(other, entry) ? undefined : findingOf(subject, other, entry);
      if (finding === undefined) continue;
      found.push(finding);
      break;
    }
    for (const key of keys) {
      const known = ranks.get(key);
      if (known === undefined) ranks.set(key, [entry]);
      else if (known.length < comparedMax) known.push(entry);
    }
  }
  return found;
}

function findingOf(subject: Subject, winner: Entry, entry: Entry): RawFinding | undefined {
  for (const witness of subject.witnesses([winner, entry])) {
    if (subject.ask(witness).winner !== winner) continue;
    const message = `${nameOf(entry)} and ${nameOf(winner)} have one rank and match one request: only names, ids or positions decide, for the latter`;
    return {
      severity: 'warning',
      ...placeOf(entry, '/match'),
      message,
      witness,
      because: [placeOf(winner, '/match')],
      madeOf: [winner, entry],
    };
  }
  return undefined;
}

/** Entries that share none match no common request, or are not compared. */
function keysOf({ priority, weight, path, hosts }: Entry): readonly string[] {
  const rank = `${priority} ${weight} ${path.text}`;
  const isExact = hosts.length > 0 && hosts.every(({ kind }) => kind === 'exact');
  return isExact ? hosts.map(({ text }) => `${rank} ${text}`) : [rank];
}
