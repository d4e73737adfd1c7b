// Why a request is answered as it is: the entry that wins, what kept the others from it, what becomes of it. Asks the
// same table, matchers, chain and actions that serve traffic; only the walk over the losers is its own.
import { type ProxyErrorType, proxyErrors } from '../../errors.ts';
import type { Destination } from '../../model/destination.ts';
import { redirectAnswer } from '../action/redirect.ts';
import { upstreamHost, upstreamTarget } from '../action/rewrite.ts';
import { decideLink } from '../compile/chain.ts';
import type { Entry } from '../compile/entry.ts';
import { hostMatches } from '../match/host.ts';
import { matchedLength } from '../match/path.ts';
import type { RoutingTable } from '../match/routing-table.ts';
import type { RoutedRequest } from '../request-head.ts';
import { ExplainedRequest, type RequestQuestion } from './explained-request.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

export interface Candidate {
  readonly route: Named;
  /** Absent for a route that stands alone. */
  readonly group?: Named;
  /** Group and route composed (contract.md §6.2). */
  readonly path: { readonly type: 'exact' | 'prefix' | 'regex'; readonly value: string };
  readonly matches: boolean;
  /** The first matcher that does not agree; asked in this order, the rest were not. */
  readonly failed?: { readonly matcher: string; readonly wanted: string; readonly found: string | null };
}

export interface ChainStep {
  readonly id: string;
  readonly name?: string;
  readonly type?: string;
  readonly runs: boolean;
  readonly because: 'always' | 'disabled' | 'skipWhen' | 'onlyWhen';
  /** The expression that decided, if one did. */
  readonly expression?: string;
}

export type Outcome =
  | {
      readonly action: 'forward';
      readonly destinations: readonly { readonly id: string; readonly weight: number; readonly exists: boolean }[];
      /** What the upstream sees. With several destinations `host` is that of the first, if it depends on it. */
      readonly upstream: { readonly method: string; readonly target: string; readonly host: string };
    }
  | { readonly action: 'redirect'; readonly status: number; readonly location: string }
  | { readonly action: 'directResponse'; readonly status: number }
  | { readonly action: 'error'; readonly status: number; readonly error: ProxyErrorType };

export interface Explanation {
  readonly request: {
    readonly method: string;
    readonly host: string;
    readonly path: string;
    readonly clientIp: string;
  };
  /** The entry that serves the request, or null: `no_route`. */
  readonly winner: { readonly route: Named; readonly group?: Named } | null;
  /** Entries whose path agrees, in the order of contract.md §6.4, at most `candidatesMax`. */
  readonly candidates: readonly Candidate[];
  /** Those beyond `candidatesMax`. */
  readonly candidatesLeftOut: number;
  /** The winner's middlewares, outermost first. */
  readonly middlewares: readonly ChainStep[];
  readonly outcome: Outcome;
}

export const candidatesMax = 100;

export function explain(
  table: RoutingTable,
  destinations: readonly Destination[],
  question: RequestQuestion,
): Explanation {
  const request = new ExplainedRequest(question);
  const { method, host, path, clientIp } = request;
  const winner = path === '' ? undefined : table.match(request);
  const near = path === '' ? [] : table.entries.filter((entry) => matchedLength(entry.path, path) >= 0);
  return {
    request: { method, host, path: path || question.url, clientIp },
    winner: winner === undefined ? null : namesOf(winner),
    candidates: near.slice(0, candidatesMax).map((entry) => candidateOf(entry, request)),
    candidatesLeftOut: Math.max(0, near.length - candidatesMax),
    middlewares: (winner?.chain ?? []).map((link) => stepOf(link, request)),
    outcome: path === '' ? failure('bad_request') : outcomeOf(winner, request, destinations),
  };
}

const named = ({ id, name }: Named): Named => ({ id, name });

const namesOf = ({ route, group }: Entry): { route: Named; group?: Named } => ({
  route: named(route),
  ...(group && { group: named(group) }),
});

function candidateOf(entry: Entry, request: RoutedRequest): Candidate {
  const { type, text } = entry.path;
  const failed = failureOf(entry, request);
  return {
    ...namesOf(entry),
    path: { type, value: text === '' ? '/' : text },
    matches: failed === undefined,
    ...(failed && { failed }),
  };
}

function failureOf({ hosts, matchers }: Entry, request: RoutedRequest): Candidate['failed'] {
  if (hosts.length > 0 && !hosts.some((pattern) => hostMatches(pattern, request.host))) {
    const wanted = hosts.map(({ kind, text }) => (kind === 'suffix' ? `*${text}` : text)).join(', ');
    return { matcher: 'hostnames', wanted, found: request.host };
  }
  const matcher = matchers.find((each) => !each.test(request));
  return matcher && { matcher: matcher.kind, wanted: matcher.wanted, found: matcher.found(request) ?? null };
}

function stepOf(link: Entry['chain'][number], request: RoutedRequest): ChainStep {
  const { run, why, expression } = { expression: undefined, ...decideLink(link, request.view) };
  const { id, middleware } = link;
  return {
    id,
    ...(middleware && { name: middleware.name, type: middleware.type }),
    runs: run,
    because: why,
    ...(expression !== undefined && { expression }),
  };
}

function outcomeOf(winner: Entry | undefined, request: RoutedRequest, destinations: readonly Destination[]): Outcome {
  if (winner === undefined) return failure('no_route');
  const { action, closed, path } = winner;
  if (closed !== undefined || action === undefined) return failure(closed ?? 'middleware_unavailable');
  if (action.kind === 'directResponse') return { action: 'directResponse', status: action.answer.status };
  if (action.kind === 'redirect') return { action: 'redirect', ...redirectAnswer(action.redirect, path, request) };
  const known = new Map(destinations.map((destination) => [destination.id, destination]));
  const targets = action.plan.choice.ids.map((id, i) => ({
    id,
    weight: action.plan.choice.weights[i] ?? 0,
    exists: known.has(id),
  }));
  const first = targets.find(({ exists }) => exists);
  if (first === undefined) return failure('no_destination');
  const ownHost = known.get(first.id)?.host ?? '';
  const target = upstreamTarget(action.plan.rewrite, path, request);
  const host = upstreamHost(action.plan.rewrite, request, ownHost) || ownHost;
  return { action: 'forward', destinations: targets, upstream: { method: request.method, target, host } };
}

const failure = (error: ProxyErrorType): Outcome => ({ action: 'error', status: proxyErrors[error].status, error });
