// Difference between what two entries do with one request (fleet.md §7).
import { isDeepStrictEqual } from 'node:util';
import type { ShadowKind } from '../../model/shadow.ts';
import { redirectAnswer } from '../action/redirect.ts';
import { upstreamHost, upstreamTarget } from '../action/target-rewrite.ts';
import type { RankedEntry } from '../match/route-entry.ts';
import { type ChainDecision, decideChain, type Undecided } from './chain-decision.ts';
import { differenceOf, type EntryDifference } from './entry-difference.ts';
import type { ShadowExchange } from './shadow-exchange.ts';
import type { ShadowRequest } from './shadow-request.ts';

export interface RequestDifference {
  /** Empty: none. */
  readonly kinds: readonly ShadowKind[];
  /** Parts that differ, see ShadowExample. */
  readonly what: readonly string[];
}

export const noDifference: RequestDifference = { kinds: [], what: [] };

/** One side: an entry and the request as it sees it. */
export interface Side {
  readonly entry: RankedEntry;
  readonly exchange: ShadowExchange;
}

/**
 * @param around `readsBodies` false: no expression has a body. `asksChain`: chains that are alike may decide differently
 */
export function compareSides(
  stable: Side,
  candidate: Side,
  { readsBodies, asksChain }: { readonly readsBodies: boolean; readonly asksChain: boolean },
): RequestDifference | Undecided {
  const difference = differenceOf(stable.entry, candidate.entry);
  if (!asksChain && !difference.asksChain)
    return actionDifference(difference, stable, candidate, difference.owner, false);
  const before = decideChain(stable.entry, stable.exchange, readsBodies);
  if (typeof before === 'string') return before;
  const after = decideChain(candidate.entry, candidate.exchange, readsBodies);
  if (typeof after === 'string') return after;
  const result = decidedDifference(difference, stable, candidate, before, after);
  const [open, others] = [openHashes(stable, candidate), openHashes(candidate, stable)];
  if (open.size === 0 && others.size === 0) return result;
  // One password, compared with the same hashes: both pass, or neither.
  return result.kinds.length === 0 && isDeepStrictEqual(open, others) ? result : 'later';
}

/** Hashes that are not known to be those of the password on either side. */
const openHashes = ({ exchange: { unverified } }: Side, { exchange: { verified } }: Side): ReadonlySet<string> =>
  new Set([...unverified].filter((hash) => !verified.has(hash)));

function decidedDifference(
  difference: EntryDifference,
  stable: Side,
  candidate: Side,
  before: ChainDecision,
  after: ChainDecision,
): RequestDifference {
  if (before.ending !== undefined || after.ending !== undefined) return endingDifference(difference, before, after);
  const way = [
    ...difference.owner,
    ...(before.ran === after.ran ? [] : ['middlewares']),
    ...(before.requestFields === after.requestFields ? [] : ['fields']),
  ];
  return actionDifference(difference, stable, candidate, way, before.responseFields !== after.responseFields);
}

/** Returns the difference of a request that reaches the action of one side at most. */
function endingDifference({ owner }: EntryDifference, before: ChainDecision, after: ChainDecision): RequestDifference {
  const kind = endingKind(before.ending, after.ending);
  return {
    kinds: [...(owner.length > 0 ? (['moved'] as const) : []), ...(kind === undefined ? [] : [kind])],
    what: kind === undefined ? owner : [...owner, 'middlewares'],
  };
}

function endingKind(before: ChainDecision['ending'], after: ChainDecision['ending']): ShadowKind | undefined {
  const wasRejected = before?.isRejection === true;
  const isRejected = after?.isRejection === true;
  if (wasRejected !== isRejected) return isRejected ? 'rejectedMore' : 'rejectedLess';
  return before?.text === after?.text ? undefined : 'answersChanged';
}

function actionDifference(
  difference: EntryDifference,
  stable: Side,
  candidate: Side,
  before: readonly string[],
  isOtherResponse: boolean,
): RequestDifference {
  const { way, isOtherAnswer, asksTarget } = difference;
  const target = asksTarget ? targetDifference(stable, candidate) : undefined;
  const moves = target === 'rewrite' && !way.includes('rewrite') ? [...before, ...way, target] : [...before, ...way];
  const isAnswered = isOtherAnswer || isOtherResponse || target === 'answer';
  if (moves.length === 0 && !isAnswered) return noDifference;
  return {
    kinds: [...(moves.length > 0 ? (['moved'] as const) : []), ...(isAnswered ? (['answersChanged'] as const) : [])],
    what: isAnswered ? [...moves, 'answer'] : moves,
  };
}

/** The part in which the targets for the upstream, or the locations, differ. */
function targetDifference(stable: Side, candidate: Side): 'rewrite' | 'answer' | undefined {
  const [one, other] = [stable, candidate].map(({ entry, exchange }) => targetOf(entry, exchange.request));
  if (one === other) return undefined;
  return stable.entry.action?.kind === 'redirect' ? 'answer' : 'rewrite';
}

function targetOf({ action, path }: RankedEntry, request: ShadowRequest): string {
  if (action?.kind === 'redirect') {
    const { status, location } = redirectAnswer(action.redirect, path, request);
    return `${status} ${location}`;
  }
  if (action?.kind !== 'forward') return '';
  const { rewrite } = action.plan;
  // Without the host of the destination, which is the same wherever the destinations are.
  const host = upstreamHost(rewrite, request, '', request.edits.added('host'));
  return `${host} ${upstreamTarget(rewrite, path, request)}`;
}
