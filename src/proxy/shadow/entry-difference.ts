// Difference of two entries as far as no request decides it: route, group, destinations, fixed answers; and what has to
// be asked for each request.
import { isDeepStrictEqual } from 'node:util';
import type { Action, RankedEntry } from '../match/route-entry.ts';

export interface EntryDifference {
  /** Another route or group, also for requests that do not reach the action. */
  readonly owner: readonly string[];
  /** Other destinations, weights or edits of the shares, for requests that reach the action. */
  readonly way: readonly string[];
  /** Another kind of action, or another fixed answer. */
  readonly isOtherAnswer: boolean;
  /** The chains may decide differently. */
  readonly asksChain: boolean;
  /** Targets or locations may differ. */
  readonly asksTarget: boolean;
}

const known = new WeakMap<RankedEntry, WeakMap<RankedEntry, EntryDifference>>();

/** Computed once for each pair. */
export function differenceOf(stable: RankedEntry, candidate: RankedEntry): EntryDifference {
  let pairs = known.get(stable);
  if (pairs === undefined) {
    pairs = new WeakMap();
    known.set(stable, pairs);
  }
  const found = pairs.get(candidate);
  if (found !== undefined) return found;
  const made = compared(stable, candidate);
  pairs.set(candidate, made);
  return made;
}

function compared(stable: RankedEntry, candidate: RankedEntry): EntryDifference {
  const [one, other] = [stable.action, candidate.action];
  const isSameKind = one?.kind === other?.kind;
  const [ownHeaders, otherHeaders] = [stable.route.forward?.headers, candidate.route.forward?.headers];
  return {
    owner: [
      ...(stable.route.id === candidate.route.id ? [] : ['route']),
      ...(stable.group?.id === candidate.group?.id ? [] : ['group']),
    ],
    way: isSameKind ? wayOf(stable, candidate) : [],
    isOtherAnswer: !isSameKind || !isSameAnswer(one, other),
    asksChain:
      stable.closed !== candidate.closed ||
      stable.bodyBytesMax !== candidate.bodyBytesMax ||
      stable.refusing !== undefined ||
      candidate.refusing !== undefined ||
      !isDeepStrictEqual(chainOf(stable), chainOf(candidate)) ||
      !isDeepStrictEqual(ownHeaders, otherHeaders),
    asksTarget:
      isSameKind &&
      one?.kind !== 'directResponse' &&
      !(
        isDeepStrictEqual(stable.route.forward?.rewrite, candidate.route.forward?.rewrite) &&
        isDeepStrictEqual(stable.route.redirect, candidate.route.redirect) &&
        isDeepStrictEqual(stable.path, candidate.path)
      ),
  };
}

/** Parts of a chain that decide about requests. */
const chainOf = ({ chain }: RankedEntry): readonly unknown[] =>
  chain
    .filter(({ disabled }) => !disabled)
    .map(({ middleware, override, skipWhen, onlyWhen }) => ({
      middleware,
      override,
      conditions: [skipWhen, onlyWhen].map((programs) => programs.map(({ source }) => source)),
    }));

function wayOf(stable: RankedEntry, candidate: RankedEntry): string[] {
  const [one, other] = [sharesOf(stable.action), sharesOf(candidate.action)];
  const editsOf = ({ route }: RankedEntry, name: 'headers' | 'rewrite'): readonly unknown[] =>
    route.forward?.destinations.map((share) => share[name]) ?? [];
  const differs = (name: 'headers' | 'rewrite'): boolean =>
    !isDeepStrictEqual(editsOf(stable, name), editsOf(candidate, name));
  return [
    ...(isDeepStrictEqual(one, other) ? [] : ['destinations']),
    ...(differs('rewrite') ? ['rewrite'] : []),
    ...(differs('headers') ? ['fields'] : []),
  ];
}

const sharesOf = (action: Action | undefined): readonly unknown[] =>
  action?.kind === 'forward' ? action.plan.choice.shares.map(({ key, weight }) => [key, weight]) : [];

function isSameAnswer(one: Action | undefined, other: Action | undefined): boolean {
  if (one?.kind === 'directResponse' && other?.kind === 'directResponse')
    return isDeepStrictEqual(one.answer, other.answer);
  if (one?.kind !== 'forward' || other?.kind !== 'forward') return true;
  const answersOf = ({ plan }: typeof one): readonly unknown[] =>
    plan.choice.shares.map(({ answer }) => answer?.answer);
  return isDeepStrictEqual(answersOf(one), answersOf(other));
}
