// ambiguous-order: of two entries of one rank that match one request, a name, an id or a place in a list decides.
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { ShardedMap } from '../../util/sharded-map.ts';
import { excludeEachOther } from '../conditions.ts';
import { nameOf, placeOf, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

/** Entries of one rank, path and host that an entry is compared with. */
const comparedMax = 64;

export function* ambiguousOrders(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  // Entries of one rank stand together.
  let last: RankedEntry | undefined;
  let rank = 0;
  const known = new ShardedMap<RankedEntry[]>();
  const overlaps = yield* subject.overlaps();
  for (const [at, entry] of subject.entries.entries()) {
    if (subject.isPause()) yield;
    if (!overlaps.isShared(at) || entry.bindings?.length === 0) continue;
    if (last?.priority !== entry.priority || last.weight !== entry.weight) {
      last = entry;
      rank++;
    }
    const keys = keysOf(entry, rank);
    for (const other of earlierOf(keys, known)) {
      if (excludeEachOther(other, entry)) continue;
      yield;
      const finding = findingOf(subject, other, entry);
      if (finding === undefined) continue;
      found.push(finding);
      break;
    }
    for (const key of keys) {
      const list = known.get(key);
      if (list === undefined) known.set(key, [entry]);
      else if (list.length < comparedMax) list.push(entry);
    }
  }
  return found;
}

function findingOf(subject: Subject, winner: RankedEntry, entry: RankedEntry): RawFinding | undefined {
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

const none: readonly RankedEntry[] = [];

function earlierOf(keys: readonly string[], known: ShardedMap<RankedEntry[]>): Iterable<RankedEntry> {
  const [only = ''] = keys;
  if (keys.length === 1) return known.get(only) ?? none;
  return new Set(keys.flatMap((key) => known.get(key) ?? []));
}

/** Entries that share no key are of different ranks, match no common request, or are not compared. */
function keysOf({ path, hosts }: RankedEntry, rank: number): readonly string[] {
  const isExact = hosts.length > 0 && hosts.every(({ kind }) => kind === 'exact');
  // The path at the end: shards are chosen by it.
  return isExact ? hosts.map(({ text }) => `${rank} ${text} ${path.text}`) : [`${rank} ${path.text}`];
}
