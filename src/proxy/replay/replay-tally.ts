// Tally of a replay.
import type { ChangedPart, MovedRequests, ReplayReport, RouteName } from '../../model/answers/diff-answers.ts';
import type { RecentRequest } from '../../model/answers/request-answers.ts';
import type { RankedEntry } from '../match/route-entry.ts';
import type { Change } from './replayed-outcome.ts';

const examplesMax = 5;

interface Counted {
  requests: number;
}

type CountedMoves = { -readonly [K in keyof MovedRequests]: MovedRequests[K] } & { readonly examples: RecentRequest[] };

export class ReplayTally {
  readonly #total = { requests: 0, standsFor: 0, same: 0 };
  readonly #moves = {
    moved: new Rows<CountedMoves>(),
    lost: new Rows<CountedMoves>(),
    gained: new Rows<CountedMoves>(),
  };
  readonly #changed = new Rows<Counted & { readonly route: RouteName; readonly what: readonly ChangedPart[] }>();
  readonly #undecided = new Rows<Counted & { readonly needs: string }>();

  add(request: RecentRequest, change: Change): void {
    this.#total.requests++;
    this.#total.standsFor += request.oneIn;
    switch (change.is) {
      case 'same':
        this.#total.same++;
        return;
      case 'undecided': {
        const { needs } = change;
        this.#undecided.at(needs, () => ({ needs, requests: 0 })).requests++;
        return;
      }
      case 'changed': {
        const { what } = change;
        const route = nameOf(change.to);
        this.#changed.at(`${route.id} ${what.join()}`, () => ({ route, what, requests: 0 })).requests++;
        return;
      }
      default:
        this.#move(request, change);
    }
  }

  /** Most requests first. */
  report(): ReplayReport {
    const { moved, lost, gained } = this.#moves;
    return {
      ...this.#total,
      moved: moved.list(),
      lost: lost.list(),
      gained: gained.list(),
      changed: this.#changed.list(),
      undecided: this.#undecided.list(),
    };
  }

  #move(request: RecentRequest, change: Extract<Change, { is: 'moved' | 'lost' | 'gained' }>): void {
    const from = 'from' in change && change.from ? nameOf(change.from) : null;
    const to = 'to' in change && change.to ? nameOf(change.to) : null;
    const row = this.#moves[change.is].at(JSON.stringify([from?.id, to?.id]), () => ({
      from,
      to,
      requests: 0,
      standsFor: 0,
      examples: [],
    }));
    row.requests++;
    row.standsFor += request.oneIn;
    if (row.examples.length < examplesMax) row.examples.push(request);
  }
}

const nameOf = ({ route: { id, name } }: RankedEntry): RouteName => ({ id, name });

/** Rows of a table by their keys. */
class Rows<T extends Counted> {
  readonly #byKey = new Map<string, T>();

  at(key: string, make: () => T): T {
    const row = this.#byKey.get(key) ?? make();
    this.#byKey.set(key, row);
    return row;
  }

  list(): readonly T[] {
    return [...this.#byKey.values()].sort((a, b) => b.requests - a.requests);
  }
}
