// Shares of a forward as they are explained: which of them may get the request, and which one does, if that is settled
// (contract.md §7.5).

import type { ProxyErrorType } from '../../errors.ts';
import type { ExplainedAnswer, ExplainedDestination } from '../../model/answers/explained-outcome.ts';
import type { Destination } from '../../model/destination.ts';
import type { ForwardPlan } from '../forward/forward-plan.ts';
import type { Share } from '../forward/share.ts';
import { placementMark } from '../upstream/session/placements.ts';
import type { SignedCookies } from '../upstream/session/signed-cookies.ts';
import { carriedSession, explainDestination, type KnownStates, readSigned } from './explained-destination.ts';
import type { ExplainedRequest } from './explained-request.ts';

export type ExplainedShare = ExplainedDestination | ExplainedAnswer;

export const isAnswer = (share: ExplainedShare): share is ExplainedAnswer => 'directResponse' in share;

interface ExplainedShares {
  /** As listed. */
  readonly shares: readonly ExplainedShare[];
  /** The first that may get the request, a destination before a fixed answer. */
  readonly first: Share | undefined;
  /** The one that gets it; undefined: it is not settled before the request is there, or there is none. */
  readonly settled: Share | undefined;
}

export function* explainShares(
  plan: ForwardPlan,
  request: ExplainedRequest,
  destinations: ReadonlyMap<string, Destination>,
  known: KnownStates,
): Generator<void, ExplainedShares> {
  const { choice } = plan;
  const shares: ExplainedShare[] = [];
  for (const { answer, destinationId: id, weight } of choice.shares) {
    const destination = destinations.get(id);
    if (answer !== undefined) shares.push({ directResponse: { status: answer.answer.status }, weight });
    else if (destination === undefined) shares.push({ id, weight, exists: false });
    else shares.push(yield* explainDestination(destination, weight, request, known));
  }
  const alone = shares.length === 1;
  const serving = Uint8Array.from(shares, (share) => {
    if (isAnswer(share)) return 1;
    return (alone ? share.exists : !choice.failover || share.available === true) ? 1 : 0;
  });
  const eligible = choice.shares.filter((_, at) => serving[at] === 1);
  const first = eligible.find(({ answer }) => answer === undefined) ?? eligible[0];
  return { shares, first, settled: settledShare(plan, eligible, serving, request, known.signed) };
}

function settledShare(
  { choice, routeId, signed }: ForwardPlan,
  eligible: readonly Share[],
  serving: Uint8Array,
  request: ExplainedRequest,
  cookies: SignedCookies | undefined,
): Share | undefined {
  const weighty = eligible.filter(({ weight }) => weight > 0);
  const taking = weighty.length === 0 ? eligible : weighty;
  const [only] = taking;
  const isSame = taking.every(
    ({ destinationId, edits }) => edits === undefined && destinationId !== '' && destinationId === only?.destinationId,
  );
  if (taking.length === 1 || isSame) return only;
  const mark = readSigned(cookies, signed, request)?.mark;
  if (mark !== undefined) return eligible.find(({ key }) => placementMark(key) === mark);
  if (choice.algorithm !== 'WEIGHTED_CONSISTENT_HASH') return undefined;
  const session = carriedSession(request, choice.cookie.name);
  return session === '' ? undefined : choice.ownerOf(session, routeId, serving);
}

/** Returns the error of a request whose share is `first`, one that may get it; undefined: it is forwarded. */
export function failureOfShares(
  { choice }: ForwardPlan,
  first: Share | undefined,
  shares: readonly ExplainedShare[],
): ProxyErrorType | undefined {
  const refused = choice.failover ? undefined : 'destination_unavailable';
  const isEmpty = (share: ExplainedShare): boolean => !isAnswer(share) && share.endpoints?.length === 0;
  if (first === undefined) return refused ?? (shares.some(isEmpty) ? 'destination_unavailable' : 'no_destination');
  const explained = shares[choice.shares.indexOf(first)];
  if (explained === undefined || isAnswer(explained) || explained.available === true) return undefined;
  if (!explained.exists) return refused ?? 'no_destination';
  return refused ?? (isEmpty(explained) ? 'destination_unavailable' : 'no_endpoint');
}
