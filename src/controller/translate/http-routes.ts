// HTTPRoute as routes of Sluice: one for each match of each rule and each group of listeners.

import type { HTTPRoute } from '../gateway-api/http-route.ts';
import type { Condition } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import type { Attachment, Entity } from '../graph/facts.ts';
import { type Binding, bindingsOf } from './bindings.ts';
import { type Filters, headersEntity, readFilters, redirectOf, rewriteOf } from './filters.ts';
import { refusalOfReferences } from './foreign-references.ts';
import { type ForwardContext, mirrorsOf, sharesOf } from './forward-action.ts';
import { firstOfEachName } from './header-names.ts';
import { pathRank, priorityOf, routeName } from './precedence.ts';

type Rule = HTTPRoute['spec']['rules'][number];
type RuleMatch = Rule['matches'][number];

export interface TranslatedRoute {
  readonly entities: readonly Entity[];
  /** Reasons why the route is not accepted as it is written. */
  readonly refusals: readonly Condition[];
  /** References that lead nowhere. */
  readonly faults: readonly Condition[];
  /** Keys of the Services that it leads to. */
  readonly services: readonly string[];
}

const anyPath = { type: 'PathPrefix', value: '/' } as const;

export function translateHttpRoute(
  graph: ControllerGraph,
  route: HTTPRoute,
  attachments: readonly Attachment[],
): TranslatedRoute {
  const parts = (route.spec.rules ?? []).map((rule, at) => translateRule(graph, route, attachments, rule, at));
  return joined(parts);
}

export const joined = (parts: readonly TranslatedRoute[]): TranslatedRoute => ({
  entities: parts.flatMap(({ entities }) => entities),
  refusals: parts.flatMap(({ refusals }) => refusals),
  faults: parts.flatMap(({ faults }) => faults),
  services: parts.flatMap(({ services }) => services),
});

function translateRule(
  graph: ControllerGraph,
  route: HTTPRoute,
  attachments: readonly Attachment[],
  rule: Rule,
  ruleAt: number,
): TranslatedRoute {
  const { name, namespace = '' } = route.metadata;
  const idParts = [...graph.idPrefix, 'httproute', namespace, name, ruleAt];
  const filters = readFilters(graph, { namespace, idParts }, rule.filters);
  if (filters.accepted !== undefined) return { entities: [], refusals: [filters.accepted], faults: [], services: [] };
  const bindings = bindingsOf(attachments, filters.redirect !== undefined);
  const matches = rule.matches === undefined || rule.matches.length === 0 ? [{ path: anyPath }] : rule.matches;
  const frame = { graph, route, rule, filters, idParts };
  // Without a binding the references are judged all the same.
  const judged = bindings.length > 0 ? bindings : [noBinding];
  const parts = judged.flatMap((binding, bindingAt) =>
    matches.map((match, matchAt) => translateMatch(frame, match as RuleMatch, binding, [ruleAt, matchAt, bindingAt])),
  );
  const whole = joined(parts);
  const resolved = filters.resolved === undefined ? [] : [filters.resolved];
  return { ...whole, entities: bindings.length > 0 ? whole.entities : [], faults: [...resolved, ...whole.faults] };
}

const noBinding: Binding = {
  listenerIds: [],
  hostnames: [],
  hostRank: 0,
  port: 80,
  scheme: 'http',
  mode: undefined,
  certificate: undefined,
};

interface RuleFrame {
  readonly graph: ControllerGraph;
  readonly route: HTTPRoute;
  readonly rule: Rule;
  readonly filters: Filters;
  readonly idParts: readonly (string | number)[];
}

function translateMatch(
  { graph, route, rule, filters, idParts }: RuleFrame,
  match: RuleMatch,
  binding: Binding,
  numbers: readonly [rule: number, match: number, binding: number],
): TranslatedRoute {
  const namespace = route.metadata.namespace ?? '';
  const path = match.path ?? anyPath;
  const context: ForwardContext = {
    graph,
    source: { kind: 'HTTPRoute', namespace },
    use: { protocol: 'http', certificate: binding.certificate },
    idParts,
    path,
  };
  const shares = sharesOf(context, rule.backendRefs);
  const copies = mirrorsOf(context, filters.mirrors);
  const answer = answerOf({ rule, filters, idParts, namespace, path, shares, mirrors: copies.mirrors }, binding);
  const middlewares = [...filters.middlewares, ...answer.middlewares];
  const { queryParams = [] } = match;
  const headers = firstOfEachName(match.headers);
  const entity: Entity = {
    kind: 'routes',
    body: {
      id: graph.entityId('httproute', namespace, route.metadata.name, ...numbers),
      name: routeName(route, ...numbers),
      listenerIds: binding.listenerIds,
      priority: priorityOf({
        host: binding.hostRank,
        path: pathRank(path.type, path.value),
        hasMethod: match.method !== undefined,
        headers: headers.length,
        queryParams: queryParams.length,
      }),
      match: {
        ...pathMatch(path),
        ...(match.method !== undefined && { methods: [match.method] }),
        ...(binding.hostnames.length > 0 && { hostnames: binding.hostnames }),
        ...(headers.length > 0 && { headers: headers.map(matcherOf) }),
        ...(queryParams.length > 0 && { queryParams: queryParams.map(matcherOf) }),
      },
      ...answer.action,
      ...(middlewares.length > 0 && { middlewareIds: middlewares.map(({ body }) => body.id) }),
    },
  };
  const refusal = refusalOfReferences([entity, ...answer.middlewares, ...filters.middlewares]);
  if (refusal !== undefined) return { entities: [], refusals: [refusal], faults: [], services: [] };
  const isRedirect = filters.redirect !== undefined;
  return {
    entities: [
      entity,
      ...middlewares,
      ...filters.services,
      ...(isRedirect ? [] : [...shares.entities, ...copies.entities]),
    ],
    refusals: [],
    faults: [...shares.faults, ...copies.faults],
    services: [...shares.services, ...copies.services],
  };
}

/** Path of a match. A prefix with a slash at its end matches what it matches without. */
function pathMatch({ type, value }: { readonly type: string; readonly value: string }): object {
  if (type === 'Exact') return { path: value };
  if (type === 'RegularExpression') return { pathRegex: `(?:${value})$` };
  return { pathPrefix: value.replace(/\/+$/, '') || '/' };
}

/** Header or query matcher. A regular expression matches the whole value. */
export const matcherOf = ({
  name,
  type,
  value,
}: {
  readonly name: string;
  readonly type?: string;
  readonly value: string;
}) => (type === 'RegularExpression' ? { name, value: `^(?:${value})$`, regex: true } : { name, value });

interface RuleAnswer {
  readonly rule: Rule;
  readonly filters: Filters;
  readonly idParts: readonly (string | number)[];
  readonly namespace: string;
  readonly path: { readonly type: string; readonly value: string };
  readonly shares: { readonly destinations: readonly object[] };
  readonly mirrors: readonly object[];
}

function answerOf(
  { rule, filters, idParts, namespace, path, shares, mirrors }: RuleAnswer,
  binding: Binding,
): { readonly action: object; readonly middlewares: readonly Entity[] } {
  const { headers, redirect, rewrite } = filters;
  // A filter that is not there may be one that protects: nothing passes without it.
  if (filters.resolved !== undefined) return { action: { directResponse: { status: 500, body: '' } }, middlewares: [] };
  if (redirect !== undefined) {
    const middlewares = headers === undefined ? [] : [headersEntity({ namespace, idParts }, headers)];
    return { action: { redirect: redirectOf(redirect, binding) }, middlewares };
  }
  const retry = retryOf(rule.retry);
  const timeouts = timeoutsOf(rule.timeouts);
  const forward = {
    destinations: shares.destinations,
    failover: false,
    ...(headers !== undefined && { headers }),
    ...(rewrite !== undefined && { rewrite: rewriteOf(rewrite, path) }),
    ...(mirrors.length > 0 && { mirrors }),
    ...(timeouts !== undefined && { timeouts }),
    ...(retry !== undefined && { retry }),
  };
  return { action: { forward }, middlewares: [] };
}

function timeoutsOf(timeouts: Rule['timeouts']): object | undefined {
  if (timeouts === undefined) return undefined;
  const { request, backendRequest } = timeouts;
  return {
    ...(request !== undefined && { request }),
    ...(backendRequest !== undefined && { perAttempt: backendRequest }),
  };
}

function retryOf(retry: Rule['retry']): object | undefined {
  if (retry === undefined) return undefined;
  const { attempts = 1, codes = [], backoff } = retry;
  return {
    attempts,
    on: ['connection-failure', ...(codes.length > 0 ? ['retriable-codes'] : [])],
    ...(codes.length > 0 && { retriableCodes: codes }),
    ...(backoff !== undefined && { backoff: { base: backoff, max: backoff } }),
  };
}
