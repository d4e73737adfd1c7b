// Why a request is answered as it is: the entry that wins, what kept the others from it, what becomes of it. Asks the
// same table, matchers, chain and actions that serve traffic; only the walk over the losers is its own.

import { type ProxyErrorType, proxyErrors } from '../../errors.ts';
import type { DestinationChoice, EntryOutcome, ExplainedChange } from '../../model/answers/explained-outcome.ts';
import type { ExplainCandidate, RequestExplanation } from '../../model/answers/explanation.ts';
import type { IdAndName } from '../../model/answers/id-and-name.ts';
import type { Destination } from '../../model/destination.ts';
import { redirectAnswer } from '../action/redirect.ts';
import { upstreamHost, upstreamTarget } from '../action/target-rewrite.ts';
import { refusesOneOf } from '../exchange/entry.ts';
import type { ForwardPlan } from '../forward/forward-plan.ts';
import type { Share } from '../forward/share.ts';
import { isBoundTo } from '../match/candidate.ts';
import { precedenceOf } from '../match/order.ts';
import type { RankedEntry } from '../match/route-entry.ts';
import type { RoutingTable } from '../match/routing-table.ts';
import { isGrpc } from '../message/grpc.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import { hostMatches } from '../target/host.ts';
import { matchedLength } from '../target/path.ts';
import { type ChainWalk, walkChain } from './chain-walk.ts';
import { type KnownStates, nothingKnown } from './explained-destination.ts';
import { ExplainedRequest, type RequestQuestion } from './explained-request.ts';
import { explainShares, failureOfShares, isAnswer } from './explained-shares.ts';
import { nearestEntries } from './nearest-entries.ts';

const candidatesMax = 100;
/** Entries of the table between two pauses. */
const stride = 256;
/** Maximum length of the value found for a matcher, in characters: a hundred candidates may quote the same long header. */
const foundMax = 1_024;

/** In steps: a table may have a hundred thousand entries, and a ring of a destination takes a while. */
export function* explain(
  table: RoutingTable,
  destinations: readonly Destination[],
  question: RequestQuestion,
  known: KnownStates = nothingKnown,
): Generator<void, RequestExplanation> {
  const { request, matched, refused, first, winner } = settle(table, question);
  const { method, host, path, clientIp } = request;
  const near = path === '' ? [] : yield* entriesNear(table, path);
  const candidates: ExplainCandidate[] = [];
  for (const entry of near.slice(0, candidatesMax)) {
    candidates.push(candidateOf(entry, request, winner));
    yield;
  }
  const isLost = path !== '' && matched === undefined;
  const nearest = isLost ? yield* nearestEntries(table.entries, near.slice(0, candidatesMax), request) : [];
  const { steps, answer } = walkChain(winner?.chain ?? [], request);
  const { outcome, choice } =
    refused !== undefined
      ? { outcome: failure(refused) }
      : first !== undefined
        ? { outcome: first }
        : yield* outcomeOf(winner, answer, request, new Map(destinations.map((each) => [each.id, each])), known);
  return {
    request: { method, host, path: path || question.url, clientIp },
    listener: listenerOf(request),
    priority: winner?.priority ?? null,
    winner: winner === undefined ? null : namesOf(winner),
    candidates,
    nearest: nearest.map((entry) => candidateOf(entry, request)),
    candidatesLeftOut: Math.max(0, near.length - candidatesMax),
    middlewares: steps,
    outcome: withPage(outcome, winner, request),
    ...(choice !== undefined && { choice }),
  };
}

/** Request as the table sees it, and the entry that serves it. */
export interface Settled {
  readonly request: ExplainedRequest;
  /** Entry that the request matches, whether it serves the request or not. */
  readonly matched: RankedEntry | undefined;
  /** Error of a request that no entry serves. */
  readonly refused: ProxyErrorType | undefined;
  /** Answer of the listener itself. */
  readonly first: EntryOutcome | undefined;
  readonly winner: RankedEntry | undefined;
}

/** Returns the entry that serves a request, without the reasons of the others: its cost does not grow with the table. */
export function settle(table: RoutingTable, question: RequestQuestion): Settled {
  const request = new ExplainedRequest(question);
  const matched = request.path === '' ? undefined : table.match(request);
  const refused = refusalOf(request);
  const first = refused === undefined ? answerBefore(request) : undefined;
  return {
    request,
    matched,
    refused,
    first,
    winner: refused === undefined && first === undefined ? matched : undefined,
  };
}

/** The error of a request that no entry serves, whichever it matched. */
function refusalOf(request: ExplainedRequest): ProxyErrorType | undefined {
  const { path, view, on } = request;
  if (path === '') return 'bad_request';
  if (on?.isMisdirected(request) === true) return 'misdirected_request';
  return view.isExhausted ? 'expression_limit' : undefined;
}

/** Answer of the listener itself, which routes nothing. */
function answerBefore(request: ExplainedRequest): EntryOutcome | undefined {
  const reply = request.on?.redirect(request);
  if (reply === undefined) return undefined;
  if (reply === 'nowhere') return failure('bad_request');
  return { action: 'redirect', status: reply.status, location: reply.fields[1] ?? '' };
}

function listenerOf({ section }: ExplainedRequest): RequestExplanation['listener'] {
  if (section === undefined) return null;
  const { port, ...names } = section.listener;
  return { ...names, port: Number(port) };
}

const named = ({ id, name }: IdAndName): IdAndName => ({ id, name });

const namesOf = ({ route, group }: RankedEntry): { route: IdAndName; group?: IdAndName } => ({
  route: named(route),
  ...(group && { group: named(group) }),
});

/** Entries whose path agrees. */
function* entriesNear({ entries }: RoutingTable, path: string): Generator<void, RankedEntry[]> {
  const near: RankedEntry[] = [];
  for (const [at, entry] of entries.entries()) {
    if (matchedLength(entry.path, path) >= 0) near.push(entry);
    if ((at + 1) % stride === 0) yield;
  }
  return near;
}

function candidateOf(entry: RankedEntry, request: RoutedRequest, winner?: RankedEntry): ExplainCandidate {
  const { type, text } = entry.path;
  const failed = failureOf(entry, request);
  return {
    ...namesOf(entry),
    path: { type, value: text === '' ? '/' : text },
    priority: entry.priority,
    matches: failed === undefined,
    ...(failed && { failed }),
    ...(failed === undefined && winner && winner !== entry && { rankedBehind: precedenceOf(winner, entry) }),
  };
}

function failureOf(entry: RankedEntry, request: RoutedRequest): ExplainCandidate['failed'] {
  const { hosts, matchers, path } = entry;
  if (matchedLength(path, request.path) < 0)
    return { matcher: 'path', wanted: path.text || '/', found: request.path.slice(0, foundMax) };
  if (!isBoundTo(entry, request.section)) return unbound(entry, request);
  if (hosts.length > 0 && !hosts.some((pattern) => hostMatches(pattern, request.host))) {
    const wanted = hosts.map(({ kind, text }) => (kind === 'suffix' ? `*${text}` : text)).join(', ');
    return { matcher: 'hostnames', wanted, found: request.host };
  }
  request.view.beginMatching();
  const matcher = matchers.find((each) => !each.test(request));
  if (matcher === undefined) return undefined;
  const found = matcher.found(request)?.slice(0, foundMax) ?? null;
  return { matcher: matcher.kind, wanted: matcher.wanted, found };
}

function unbound({ bindings }: RankedEntry, { section }: RoutedRequest): ExplainCandidate['failed'] {
  const found = section === undefined ? null : section.ofSection || section.ofListener;
  if (section?.isServed === false) return { matcher: 'listener', wanted: 'a section with the host', found };
  return { matcher: 'listener', wanted: bindings?.join(', ') || 'no listener of both group and route', found };
}

interface Become {
  readonly outcome: EntryOutcome;
  readonly choice?: DestinationChoice;
}

function* outcomeOf(
  winner: RankedEntry | undefined,
  answer: ChainWalk['answer'],
  request: ExplainedRequest,
  destinations: ReadonlyMap<string, Destination>,
  known: KnownStates,
): Generator<void, Become> {
  if (winner === undefined) return { outcome: failure('no_route') };
  const { action, closed, path, refusing, bodyBytesMax = request.on?.bodyBytesMax ?? 0 } = winner;
  if (refusing !== undefined && refusesOneOf(refusing, request)) return { outcome: failure('repeated_field') };
  if (bodyBytesMax > 0 && request.bodyBytes > bodyBytesMax) return { outcome: failure('body_too_large') };
  if (closed !== undefined || action === undefined) return { outcome: failure(closed ?? 'middleware_unavailable') };
  if (answer !== undefined) return { outcome: { action: 'middleware', ...answer } };
  if (action.kind === 'directResponse') return { outcome: { action: 'directResponse', status: action.answer.status } };
  if (action.kind === 'redirect')
    return { outcome: { action: 'redirect', ...redirectAnswer(action.redirect, path, request) } };
  const { plan } = action;
  const explained = yield* explainShares(plan, request, destinations, known);
  const { settled, shares } = explained;
  const first = settled ?? explained.first;
  const choice = {
    algorithm: plan.choice.algorithm,
    destination: settled?.destinationId || null,
    destinations: shares,
  };
  if (first?.answer !== undefined)
    return { outcome: { action: 'directResponse', status: first.answer.answer.status }, choice };
  const failed = failureOfShares(plan, first, shares);
  if (first === undefined || failed !== undefined) return { outcome: failure(failed ?? 'no_destination'), choice };
  const listed = shares.map((share) => {
    if (isAnswer(share)) return share;
    const { id, weight, exists } = share;
    return { id, weight, exists };
  });
  const ownHost = destinations.get(first.destinationId)?.host ?? '';
  return {
    outcome: { action: 'forward', destinations: listed, upstream: upstreamOf(plan, first, ownHost, request) },
    choice,
  };
}

/** Applies the changes of route and share to the request. */
function upstreamOf(plan: ForwardPlan, share: Share, ownHost: string, request: ExplainedRequest) {
  const changes: ExplainedChange[] = [];
  for (const headers of [plan.headers, share.edits?.headers]) {
    for (const change of headers?.dryRun(request).changes ?? []) {
      request.change(change);
      changes.push(change);
    }
  }
  const rewrite = share.edits?.rewrite ?? plan.rewrite;
  return {
    method: request.method,
    target: upstreamTarget(rewrite, plan.path, sentBy(request)),
    host: upstreamHost(rewrite, request, ownHost, request.setHost),
    ...(changes.length > 0 && { changes }),
  };
}

/** Path and query as they are rewritten for the upstream. */
const sentBy = (request: ExplainedRequest): Parameters<typeof upstreamTarget>[2] =>
  request.upstreamQuery === undefined ? request : { path: request.path, query: request.upstreamQuery };

/** Adds the page of an error: that of the route, else that of the listener. A call of gRPC has its status instead. */
function withPage(outcome: EntryOutcome, winner: RankedEntry | undefined, request: ExplainedRequest): EntryOutcome {
  if (outcome.action !== 'error' || isGrpc(request)) return outcome;
  const { status, error } = outcome;
  const ofRoute = winner?.errorPages?.pageOf(status, error, request);
  const page = ofRoute ?? request.on?.errorPages?.pageOf(status, error, request);
  if (page === undefined) return outcome;
  return { ...outcome, page: { of: ofRoute === undefined ? 'listener' : 'route', contentType: page.fields[1] ?? '' } };
}

const failure = (error: ProxyErrorType): EntryOutcome => ({
  action: 'error',
  status: proxyErrors[error].status,
  error,
});
