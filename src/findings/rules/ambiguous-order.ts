// ambiguous-order: of two entries of one rank that match one request, a name, an id or a place in a list decides.
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { ShardedMap } from '../../util/sharded-map.ts';
import { excludeEachOther } from '../conditions.ts';
import { nameOf, placeOf, type RawFinding } from '../finding.ts';
import { literalStart } from '../pattern-sample.ts';
import type { Subject } from '../subject.ts';

/** Entries of one rank, path and host that an entry is compared with. */
const comparedMax = 64;
/** Pairs of distinct patterns for which a common request is looked for, in one table. */
const pairedMax = 10_000;

interface Known {
  readonly entry: RankedEntry;
  /** Text with which all paths begin; of a pattern. */
  readonly start: string;
}

export function* ambiguousOrders(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  // Entries of one rank stand together.
  let last: RankedEntry | undefined;
  let rank = 0;
  let pairs = 0;
  const known = new ShardedMap<Known[]>();
  const overlaps = yield* subject.overlaps();
  for (const [at, entry] of subject.entries.entries()) {
    if (subject.isPause()) yield;
    const isPattern = entry.path.type === 'regex';
    if (!(isPattern || overlaps.isShared(at)) || entry.bindings?.length === 0) continue;
    if (last?.priority !== entry.priority || last.weight !== entry.weight) {
      last = entry;
      rank++;
    }
    const own: Known = { entry, start: isPattern ? literalStart(entry.path.text) : '' };
    const { lists, compared } = isPattern ? listsOfPattern(own, rank) : listsOfPath(entry, rank);
    for (const other of earlierOf(compared, known)) {
      if (begin(other, own) === 'apart' || excludeEachOther(other.entry, entry)) continue;
      if (other.entry.path.text !== entry.path.text && pairs++ >= pairedMax) break;
      yield;
      const finding = findingOf(subject, other.entry, entry);
      if (finding === undefined) continue;
      found.push(finding);
      break;
    }
    for (const key of lists) {
      const list = known.get(key);
      if (list === undefined) known.set(key, [own]);
      else if (list.length < comparedMax) list.push(own);
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

const none: readonly Known[] = [];

function earlierOf(keys: readonly string[], known: ShardedMap<Known[]>): Iterable<Known> {
  const [only = ''] = keys;
  if (keys.length === 1) return known.get(only) ?? none;
  return new Set(keys.flatMap((key) => known.get(key) ?? []));
}

/** Paths that begin otherwise are apart. */
const begin = ({ start: one }: Known, { start: other }: Known): 'apart' | 'alike' =>
  one.startsWith(other) || other.startsWith(one) ? 'alike' : 'apart';

interface Lists {
  /** Keys of the lists that the entry is put into. */
  readonly lists: readonly string[];
  /** Keys of the lists with whose entries it is compared. */
  readonly compared: readonly string[];
}

/** Entries that share no list are of different ranks, match no common request, or are not compared. */
function listsOfPath({ path, hosts }: RankedEntry, rank: number): Lists {
  const isExact = hosts.length > 0 && hosts.every(({ kind }) => kind === 'exact');
  // The path at the end: shards are chosen by it.
  const lists = isExact ? hosts.map(({ text }) => `${rank} ${text} ${path.text}`) : [`${rank} ${path.text}`];
  return { lists, compared: lists };
}

/** Patterns are compared with those of their first segment, and with those that begin with no whole one. */
function listsOfPattern({ entry, start }: Known, rank: number): Lists {
  const same = `${rank} same ${entry.path.text}`;
  const all = `${rank} patterns`;
  const [first] = /^\/[^/]*\//.exec(start) ?? [];
  const open = `${all} below`;
  if (first === undefined) return { lists: [same, all, open], compared: [same, all] };
  const below = `${open} ${first}`;
  return { lists: [same, all, below], compared: [same, below, open] };
}
