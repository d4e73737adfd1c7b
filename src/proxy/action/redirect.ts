// Location of a redirect (contract.md §7.8). Without scheme and host it is a relative reference that never leaves the
// origin, for any path of the client.

import { canonicalLocation, type LiteralTarget, literalTarget } from '../../model/canonical-path.ts';
import { routeDefaults } from '../../model/defaults.ts';
import type { Redirect } from '../../model/route.ts';
import type { CompileProblem } from '../compile-problem.ts';
import type { Action, ActionExchange } from '../exchange/entry.ts';
import { fieldText } from '../fields/field-lines.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { EntryPath } from '../target/path.ts';
import { replaceMatched } from './join-path.ts';

export interface RedirectPlan {
  readonly status: number;
  readonly url: string | undefined;
  readonly scheme: 'http' | 'https' | undefined;
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly path: LiteralTarget | undefined;
  readonly pathMode: Redirect['pathMode'];
  readonly stripQuery: boolean;
}

export interface RedirectAnswer {
  readonly status: number;
  readonly location: string;
}

export class RedirectAction implements Action {
  readonly kind = 'redirect';
  readonly redirect: RedirectPlan;
  readonly #matched: EntryPath;

  constructor(redirect: RedirectPlan, matched: EntryPath) {
    this.redirect = redirect;
    this.#matched = matched;
  }

  begin(exchange: ActionExchange): void {
    const { status, location } = redirectAnswer(this.redirect, this.#matched, exchange.request);
    exchange.reply({ status, fields: ['Location', fieldText(location)], body: '' });
  }
}

export function compileRedirect(redirect: Redirect, problems: CompileProblem[]): RedirectPlan {
  const { url, scheme, host, port, path, pathMode, stripQuery = routeDefaults.redirect.stripQuery, code } = redirect;
  for (const [field, text] of Object.entries({ url, host })) {
    if (text === undefined || canonicalLocation(text) !== undefined) continue;
    const message = 'holds a control character, or a host that DNS cannot know';
    problems.push({ of: 'route', path: ['redirect', field], message, closes: 'middleware_unavailable' });
  }
  return {
    status: code || routeDefaults.redirect.code,
    url: url === undefined ? undefined : canonicalLocation(url),
    scheme,
    host,
    port,
    pathMode,
    path: path === undefined ? undefined : literalTarget(path),
    stripQuery,
  };
}

export function redirectAnswer(plan: RedirectPlan, matched: EntryPath, request: RoutedRequest): RedirectAnswer {
  return { status: plan.status, location: plan.url ?? location(plan, matched, request) };
}

function location(plan: RedirectPlan, matched: EntryPath, request: RoutedRequest): string {
  const { query: sent, queryIsEmpty } = request;
  const own = plan.path?.query ?? '';
  const kept = plan.stripQuery ? '' : sent;
  const made = [own, kept].filter(Boolean).join('&');
  const query = made !== '' || (!plan.stripQuery && queryIsEmpty === true) ? `?${made}` : '';
  const target = sendable(oneSlash(pathOf(plan, matched, askedPath(request))) + query);
  const { scheme, host, port } = plan;
  if (scheme === undefined && host === undefined && port === undefined) return target;
  const newScheme = scheme ?? request.scheme;
  const authority = host ?? (newScheme === request.scheme ? request.authority : withoutPort(request.authority));
  // A request of HTTP/1.0 may name no host to go on from.
  if (authority === '') return target;
  return `${newScheme}://${port === undefined ? authority : withPort(authority, port, newScheme)}${target}`;
}

/** `OPTIONS *` asks for no path. */
const askedPath = ({ path }: RoutedRequest): string => (path === '*' ? '/' : path);

/** The rest of the path follows the override only where the route itself matched a prefix, or has no path match. */
function pathOf({ path, pathMode }: RedirectPlan, matched: EntryPath, requested: string): string {
  if (path === undefined) return requested;
  const isRoot = path.path === '/' && pathMode === undefined;
  const replacesAll = pathMode === 'full' || isRoot || matched.routePart === 'exact' || matched.routePart === 'regex';
  return replacesAll ? path.path : replaceMatched(matched, requested, path.path);
}

/** `//host` and `/\host` would be another origin. */
const oneSlash = (path: string): string => path.replace(/^[/\\]+/, '/');

/** A path as it was sent may hold what must not stand in a header. */
const sendable = (text: string): string => text.replace(/[^\x21-\x7e]+/gu, (found) => encodeURIComponent(found));

const defaultPorts = { http: 80, https: 443 } as const;

function withPort(authority: string, port: number, scheme: 'http' | 'https'): string {
  const host = withoutPort(authority);
  return port === defaultPorts[scheme] ? host : `${host}:${port}`;
}

/** An IPv6 address stands in brackets where a port follows it; without them its colons are no port. */
function withoutPort(authority: string): string {
  const port = /:[0-9]*$/.exec(authority);
  if (port === null) return authority;
  const host = authority.slice(0, port.index);
  return host.includes(':') && !host.endsWith(']') ? authority : host;
}
