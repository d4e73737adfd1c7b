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
  readonly path: LiteralTarget | undefined;
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
  const { url, scheme, host, path, stripQuery = routeDefaults.redirect.stripQuery, code } = redirect;
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
  const target = sendable(oneSlash(pathOf(plan, matched, request.path)) + query);
  const { scheme, host } = plan;
  if (scheme === undefined && host === undefined) return target;
  const newScheme = scheme ?? request.scheme;
  const authority = host ?? (newScheme === request.scheme ? request.authority : withoutDefaultPort(request));
  // A request of HTTP/1.0 may name no host to go on from.
  return authority === '' ? target : `${newScheme}://${authority}${target}`;
}

/** The rest of the path follows the override only where the route itself matched a prefix, or said nothing of paths. */
function pathOf({ path }: RedirectPlan, matched: EntryPath, requested: string): string {
  if (path === undefined) return requested;
  const replacesAll = path.path === '/' || matched.routePart === 'exact' || matched.routePart === 'regex';
  return replacesAll ? path.path : replaceMatched(matched, requested, path.path);
}

/** `//host` and `/\host` would be another origin. */
const oneSlash = (path: string): string => path.replace(/^[/\\]+/, '/');

/** A path as it was sent may hold what must not stand in a header. */
const sendable = (text: string): string => text.replace(/[^\x21-\x7e]+/gu, (found) => encodeURIComponent(found));

function withoutDefaultPort({ authority, scheme }: RoutedRequest): string {
  const port = scheme === 'https' ? ':443' : ':80';
  const bare = authority.endsWith(port) ? authority.slice(0, -port.length) : authority;
  // `::80` at the end of a bare IPv6 address is no port.
  return bare.endsWith(':') ? authority : bare;
}
