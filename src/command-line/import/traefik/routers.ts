// Routers of Traefik: one route for each alternative of their rule.
import { quoteRegex } from '../../../expression/regex.ts';
import type { Fields } from '../fields.ts';
import type { ImportedMiddleware, ImportedRoute, ModelFields, PathMatch } from '../intermediate.ts';
import { closed, lesserLimit } from '../shared/common.ts';
import { matchOf } from './matches.ts';
import type { Effect } from './middlewares.ts';
import { parseRule } from './router-rule.ts';
import type { Services } from './service-shares.ts';

interface Context {
  readonly effects: ReadonlyMap<string, Effect>;
  /** Names of middlewares by chain. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  readonly services: Services;
  readonly hasSecure: boolean;
}

const depthMax = 8;

export function routerRoutes(name: string, fields: Fields, isSecure: boolean, context: Context): ImportedRoute[] {
  const rule = fields.text('rule') ?? '';
  const priority = fields.number('priority') ?? 0;
  const serviceName = fields.text('service') ?? name;
  fields.text('ruleSyntax');
  const points = fields.texts('entryPoints');
  if (points.some((each) => !['web', 'websecure', 'http', 'https'].includes(each)))
    fields.approximated('entryPoints', 'web and websecure stand for all entry points');
  const tls = fields.child('tls');
  tls?.notTaken('certResolver', 'certificates are not ordered', 'tls of the listener');
  tls?.notTaken('options', 'is of each listener', 'tls of the listener');
  for (const key of ['domains']) tls?.approximated(key, 'names are those of the certificates');
  fields.approximated('observability', 'logs, metrics and traces are set elsewhere');
  const effects = effectsOf(name, fields, fields.texts('middlewares'), context);
  const service = context.services.of(serviceName);
  const maxRequestBodyBytes = effects
    .map((each) => each.maxRequestBodyBytes)
    .reduce<number | undefined>(lesserLimit, undefined);
  const alternatives = parseRule(rule);
  if (typeof alternatives === 'string') {
    fields.notTaken('rule', `${alternatives}; the router is left out`, 'match of a route');
    return [];
  }
  return alternatives.flatMap((matchers): ImportedRoute[] => {
    const match = matchOf(matchers);
    if (typeof match === 'string') {
      fields.notTaken('rule', `${match}; the alternative is left out`, 'match.cel');
      return [];
    }
    const base = {
      from: fields.statement,
      name,
      hosts: match.hosts,
      ...(match.path !== undefined && { path: match.path }),
      match: match.match,
      // The longer rule wins unless a priority is given.
      rank: [priority > 0 ? priority : rule.length],
      ...(context.hasSecure &&
        points.length + (isSecure ? 1 : 0) > 0 && { listeners: [isSecure ? 'websecure' : 'web'] }),
      middlewares: effects.flatMap(({ middlewares }) => middlewares ?? []),
      ...(maxRequestBodyBytes !== undefined && { maxRequestBodyBytes }),
    };
    const redirect = effects.find((each) => each.redirect !== undefined)?.redirect;
    if (redirect !== undefined) return [{ ...base, redirect }];
    if (serviceName === 'noop@internal') return [{ ...base, directResponse: { status: 418 } }];
    if (service === undefined) {
      fields.notTaken('service', 'there is no such service; the route answers 503', 'a destination');
      return [{ ...base, directResponse: { status: 503 } }];
    }
    const retry = effects.find((each) => each.retry !== undefined)?.retry;
    const rewrite = {
      ...pathChange(fields, effects, match.path),
      ...(service.fields.rewrite as ModelFields | undefined),
    };
    const rest = {
      ...service.fields,
      ...(retry !== undefined && { retry }),
      ...(Object.keys(rewrite).length > 0 && { rewrite }),
    };
    return [{ ...base, forward: { shares: service.shares, fields: rest } }];
  });
}

function effectsOf(name: string, fields: Fields, names: readonly string[], context: Context, depth = 0): Effect[] {
  return names.flatMap((reference): Effect[] => {
    const own = reference.replace(/@file$/, '');
    const chain = context.chains.get(own);
    if (chain !== undefined && depth < depthMax) return effectsOf(name, fields, chain, context, depth + 1);
    const effect = context.effects.get(own);
    if (effect !== undefined) return [effect];
    fields.notTaken('middlewares', `${reference} is not there; the route is closed (403)`, 'a middleware');
    const guard: ImportedMiddleware = closed(fields.statement, `${name}-closed`);
    return [{ middlewares: [guard] }];
  });
}

/** Changes of the path as one rewrite; further ones are told. */
function pathChange(fields: Fields, effects: readonly Effect[], path: PathMatch | undefined): ModelFields {
  const strips = effects.flatMap((each) => each.strips ?? []);
  const adds = effects.map((each) => each.adds ?? '').findLast((each) => each !== '');
  const patterns = effects.flatMap((each) => each.pathRegex ?? []);
  const [pattern] = patterns;
  if (patterns.length > 1 || (pattern !== undefined && (strips.length > 0 || adds !== undefined)))
    fields.notTaken('middlewares', 'several changes of the path have no counterpart', 'one rewrite of the route');
  if (pattern !== undefined) return { pathRegex: pattern };
  if (strips.length === 0) return adds === undefined ? {} : { pathRegex: { pattern: '^', substitution: adds } };
  const [only] = strips;
  if (strips.length === 1 && only !== undefined && path?.is === 'begins' && path.text === only)
    return { path: adds ?? '/' };
  return {
    pathRegex: { pattern: `^(?:${strips.map((each) => quoteRegex(each)).join('|')})`, substitution: adds ?? '' },
  };
}
