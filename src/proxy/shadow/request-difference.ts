// Difference between what two entries do with one request (fleet.md §7).

import { isDeepStrictEqual } from 'node:util';
import type { ShadowKind } from '../../model/shadow-kinds.ts';
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

/** Returns whether an example of that kind is still asked for. Without one the parts that differ are not looked for. */
export type WantsExample = (kind: ShadowKind) => boolean;

/** Surroundings of a comparison. */
export interface Around {
  readsBodies: boolean;
  asksChain: boolean;
  readonly wantsExample: WantsExample;
}

/** One side: an entry and the request as it sees it. */
export interface Side {
  entry: RankedEntry;
  readonly exchange: ShadowExchange;
}

/**
 * @param around `readsBodies` false: no expression has a body. `asksChain`: chains that are alike may decide differently.
 * `what` is complete where `wantsExample` of a kind, and may be empty elsewhere
 */
export function compareSides(stable: Side, candidate: Side, around: Around): RequestDifference | Undecided {
  const { readsBodies, asksChain, wantsExample } = around;
  const difference = differenceOf(stable.entry, candidate.entry);
  if (!asksChain && !difference.asksChain) return actionDifference(difference, stable, candidate, 0, wantsExample);
  const before = decideChain(stable.entry, stable.exchange, readsBodies);
  if (typeof before === 'string') return before;
  const after = decideChain(candidate.entry, candidate.exchange, readsBodies);
  if (typeof after === 'string') return after;
  const result = decidedDifference(difference, stable, candidate, before, after, wantsExample);
  if (stable.exchange.unverified.size === 0 && candidate.exchange.unverified.size === 0) return result;
  const [open, others] = [openHashes(stable, candidate), openHashes(candidate, stable)];
  if (open.size === 0 && others.size === 0) return result;
  // One password, compared with the same hashes: both pass, or neither.
  return result.kinds.length === 0 && isDeepStrictEqual(open, others) ? result : 'later';
}

/** Hashes that are not known to be those of the password on either side. */
const openHashes = ({ exchange: { unverified } }: Side, { exchange: { verified } }: Side): ReadonlySet<string> =>
  new Set([...unverified].filter((hash) => !verified.has(hash)));

/** Parts in which the chains of both sides made something else of a request that they let pass, as bits. */
const chainPart = { middlewares: 1, fields: 2, response: 4 } as const;

function decidedDifference(
  difference: EntryDifference,
  stable: Side,
  candidate: Side,
  before: ChainDecision,
  after: ChainDecision,
  wantsExample: WantsExample,
): RequestDifference {
  if (before.ending !== undefined || after.ending !== undefined) return endingDifference(difference, before, after);
  const { request, response } = stable.exchange;
  const { request: other, response: answered } = candidate.exchange;
  const parts =
    (before.ran === after.ran ? 0 : chainPart.middlewares) |
    (request.edits.leavesSame(other.edits, request.lines) ? 0 : chainPart.fields) |
    (response.edits.leavesSame(answered.edits) ? 0 : chainPart.response);
  return actionDifference(difference, stable, candidate, parts, wantsExample);
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

const moved: readonly ShadowKind[] = ['moved'];
const answersChanged: readonly ShadowKind[] = ['answersChanged'];
const movedAndAnswered: readonly ShadowKind[] = ['moved', 'answersChanged'];

/** Differences that are only counted. */
const counted = {
  moved: { kinds: moved, what: [] },
  answersChanged: { kinds: answersChanged, what: [] },
  both: { kinds: movedAndAnswered, what: [] },
} as const satisfies Record<string, RequestDifference>;

/** @param chain bits of `chainPart` */
function actionDifference(
  difference: EntryDifference,
  stable: Side,
  candidate: Side,
  chain: number,
  wantsExample: WantsExample,
): RequestDifference {
  const { owner, way, isOtherAnswer, asksTarget } = difference;
  const partsMove = (chain & (chainPart.middlewares | chainPart.fields)) !== 0;
  let isMoved = owner.length + way.length > 0 || partsMove;
  let isAnswered = isOtherAnswer || (chain & chainPart.response) !== 0;
  let isTold = (isMoved && wantsExample('moved')) || (isAnswered && wantsExample('answersChanged'));
  // A target is made by patterns, which cost more than all the rest: only where it decides, or is told.
  const isRedirect = stable.entry.action?.kind === 'redirect';
  const isOpen = isRedirect ? !isAnswered : !isMoved;
  const isOtherTarget = asksTarget && (isOpen || isTold) && targetsDiffer(stable, candidate);
  if (isOtherTarget && isOpen) {
    if (isRedirect) isAnswered = true;
    else isMoved = true;
    isTold ||= wantsExample(isRedirect ? 'answersChanged' : 'moved');
  }
  if (!isMoved && !isAnswered) return noDifference;
  if (!isTold) return isMoved ? (isAnswered ? counted.both : counted.moved) : counted.answersChanged;
  const isRewritten = isOtherTarget && !isRedirect && !way.includes('rewrite');
  const what = [
    ...owner,
    ...((chain & chainPart.middlewares) === 0 ? [] : ['middlewares']),
    ...((chain & chainPart.fields) === 0 ? [] : ['fields']),
    ...way,
    ...(isRewritten ? ['rewrite'] : []),
    ...(isAnswered ? ['answer'] : []),
  ];
  return { kinds: isMoved ? (isAnswered ? movedAndAnswered : moved) : answersChanged, what };
}

/** Returns whether the targets for the upstream, or the locations of redirects, differ. */
const targetsDiffer = (stable: Side, candidate: Side): boolean =>
  targetOf(stable.entry, stable.exchange.request) !== targetOf(candidate.entry, candidate.exchange.request);

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
