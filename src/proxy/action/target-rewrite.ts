// Rewrite of path and host for the upstream (contract.md §7.2). Logs, expressions and metrics keep the original.
import { compileRegex, type Regex } from '../../expression/regex.ts';
import { compileSubstitution, type Substitution } from '../../expression/substitution.ts';
import { escapedQuery, type LiteralTarget, literalTarget } from '../../model/canonical-path.ts';
import { parseAuthority } from '../../model/host-name.ts';
import type { Rewrite } from '../../model/rewrite.ts';
import type { CompileProblem } from '../compile-problem.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { EntryPath } from '../target/path.ts';
import { canonicalLike, replaceMatched } from './join-path.ts';

export interface RewritePlan {
  readonly path: LiteralTarget | undefined;
  readonly pathRegex: { readonly regex: Regex; readonly substitution: Substitution } | undefined;
  readonly host: string | undefined;
  /** In lower case. */
  readonly hostFromHeader: string | undefined;
  readonly autoHost: boolean;
}

/** `at`: the rewrite's place in its route, for problems. */
export function compileRewrite(
  rewrite: Rewrite | undefined,
  problems: CompileProblem[],
  at: CompileProblem['path'] = ['forward', 'rewrite'],
): RewritePlan | undefined {
  if (!rewrite) return undefined;
  const { path, pathRegex, host, hostFromHeader, autoHost = false } = rewrite;
  return {
    path: path === undefined ? undefined : literalTarget(path),
    pathRegex: pathRegex && compilePathRegex(pathRegex, problems, at),
    host,
    hostFromHeader: hostFromHeader?.toLowerCase(),
    autoHost,
  };
}

/** Returns a rewrite of which each half, path and host, replaces that of `former` where it says something. */
export function rewrittenOver(former: RewritePlan | undefined, own: RewritePlan): RewritePlan {
  if (former === undefined) return own;
  const saysPath = own.path !== undefined || own.pathRegex !== undefined;
  const saysHost = own.host !== undefined || own.hostFromHeader !== undefined || own.autoHost;
  const { path, pathRegex } = saysPath ? own : former;
  const { host, hostFromHeader, autoHost } = saysHost ? own : former;
  return { path, pathRegex, host, hostFromHeader, autoHost };
}

/** Path and query towards the upstream. Without a plan: the request's own, in canonical form. */
export function upstreamTarget(
  plan: RewritePlan | undefined,
  matched: EntryPath,
  request: Pick<RoutedRequest, 'path' | 'query' | 'queryIsEmpty'>,
): string {
  const { path, queryIsEmpty } = request;
  const query = queryIsEmpty === true ? '?' : request.query === '' ? '' : `?${request.query}`;
  if (plan?.path !== undefined) {
    return replaceMatched(matched, path, plan.path.path) + joinedQuery(plan.path.query, request.query, query);
  }
  if (!plan?.pathRegex) return path + query;
  const { regex, substitution } = plan.pathRegex;
  const made = regex.replaceAll(path, substitution);
  const mark = made.indexOf('?');
  if (mark < 0) return canonicalLike(path, made) + query;
  const first = escapedQuery(made.slice(mark + 1));
  return canonicalLike(path, made.slice(0, mark)) + joinedQuery(first, request.query, query);
}

/** A query of the configuration's before that of the request; `otherwise` where both are empty. */
const joinedQuery = (first: string, sent: string, otherwise: string): string =>
  first === '' ? otherwise : sent === '' ? `?${first}` : `?${first}&${sent}`;

/**
 * Value of `Host` towards the upstream; `destinationHost` is the destination's host, without port. `ownHost` is what a
 * middleware made of the request's own.
 */
export function upstreamHost(
  plan: RewritePlan | undefined,
  request: Pick<RoutedRequest, 'authority' | 'header'>,
  destinationHost: string,
  ownHost?: string,
): string {
  if (plan?.host !== undefined) return plan.host;
  if (plan?.autoHost) return bracketed(destinationHost);
  const named = plan?.hostFromHeader;
  const fromHeader = named === undefined || named === 'host' ? undefined : request.header(named);
  // A request of HTTP/1.0 may name no host.
  return asHost(fromHeader) ?? asHost(ownHost) ?? (request.authority || bracketed(destinationHost));
}

/** A host name or an address, with or without a port: a client's field may hold anything, and so may what a service sets. */
const asHost = (text: string | undefined): string | undefined =>
  text !== undefined && parseAuthority(text) !== undefined ? text : undefined;

const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

function compilePathRegex(
  { pattern, substitution }: NonNullable<Rewrite['pathRegex']>,
  problems: CompileProblem[],
  at: CompileProblem['path'],
): RewritePlan['pathRegex'] {
  try {
    const regex = compileRegex(pattern);
    return { regex, substitution: compileSubstitution(substitution, regex) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const path = [...at, 'pathRegex', 'pattern'];
    problems.push({ of: 'route', path, message, closes: 'middleware_unavailable' });
    return undefined;
  }
}
