// Routes of Ingresses: places by host and path, canaries merged into those of the same place.
import type { ImportedRoute, ModelFields, PathMatch, Share } from '../intermediate.ts';
import { bytesOf, hostRank, literalHeader, regexProblem } from '../shared/common.ts';
import { fromBeginning } from '../shared/path-expressions.ts';
import type { Ingress, IngressPath } from './ingress.ts';
import { addedRoutes } from './ingress-redirects.ts';

interface PathOfIngress {
  readonly ingress: Ingress;
  readonly at: IngressPath;
}

const isCanary = ({ notes }: Ingress): boolean => notes.text('canary') === 'true';

const keyOf = ({ host, path, type }: IngressPath): string => JSON.stringify([host, path, type]);

export function ingressRoutes(ingresses: readonly Ingress[]): ImportedRoute[] {
  const places = ingresses.flatMap((ingress) => ingress.paths.map((at): PathOfIngress => ({ ingress, at })));
  const canaries = places.filter(({ ingress }) => isCanary(ingress));
  const main = places.filter(({ ingress }) => !isCanary(ingress));
  // One expression makes all paths of its host expressions.
  const regexHosts = new Set(main.filter(({ ingress }) => usesRegex(ingress)).map(({ at }) => at.host));
  for (const { ingress, at } of canaries)
    if (!main.some((each) => keyOf(each.at) === keyOf(at)))
      ingress.notes.notTaken('canary', 'there is no Ingress of the same host and path');
  const isFirst = ({ ingress, at }: PathOfIngress): boolean =>
    ingress.paths.find(({ host }) => host === at.host) === at;
  return main.flatMap((place) => {
    const own = canaries.filter(({ at }) => keyOf(at) === keyOf(place.at));
    const added = addedRoutes(place.ingress, place.at, isFirst(place));
    // A redirect of the whole place leaves its backend nothing.
    return place.ingress.redirects ? added : [...routesOf(place, own, regexHosts.has(place.at.host)), ...added];
  });
}

const usesRegex = ({ notes }: Ingress): boolean =>
  notes.text('use-regex') === 'true' || notes.statement('rewrite-target') !== undefined;

/** Rank of a host and its paths: exact ones, then longer before shorter. */
export function rankOf(host: string, path: PathMatch | undefined, step = 0): readonly number[] {
  return [...hostRank(host), path?.is === 'exact' ? 2 : path === undefined ? 0 : 1, path?.text.length ?? 0, step];
}

function routesOf(
  { ingress, at }: PathOfIngress,
  canaries: readonly PathOfIngress[],
  isRegex: boolean,
): ImportedRoute[] {
  const { notes, name, middlewares } = ingress;
  const path = pathOf(at, isRegex);
  const problem = path.is === 'regex' ? regexProblem(path.text) : undefined;
  if (problem !== undefined) {
    notes.ledger.notTaken(at.from, problem, 'a path without it');
    return [];
  }
  const hosts = at.host === '' ? [] : [at.host, ...notes.list('server-alias')];
  const base = { from: at.from, hosts, path, middlewares, ...bodyLimitOf(ingress) };
  const fields = forwardFields(ingress, path);
  const share = (backend: IngressPath['backend'], weight: number): Share => ({ destination: backend, weight });
  const parts = canaries.map((each) => ({ canary: each.ingress, backend: each.ingress.asCanaryOf(ingress, each.at) }));
  const weighted = parts.flatMap(({ canary, backend }) => {
    const weight = canary.notes.number('canary-weight') ?? 0;
    return weight === 0 ? [] : [share(backend, weight)];
  });
  const total = canaries[0]?.ingress.notes.number('canary-weight-total') ?? 100;
  const rest = Math.max(0, total - weighted.reduce((sum, { weight = 0 }) => sum + weight, 0));
  const stable: ImportedRoute = {
    ...base,
    name: `${name}-${at.host || 'any'}${at.path}`,
    rank: rankOf(at.host, path),
    forward: {
      shares: weighted.length === 0 ? [share(at.backend, 1)] : [share(at.backend, rest), ...weighted],
      fields,
    },
  };
  return [stable, ...parts.flatMap(({ canary, backend }) => pinned(canary, stable, backend, fields))];
}

function bodyLimitOf(ingress: Ingress): Pick<ImportedRoute, 'maxRequestBodyBytes'> {
  const size = ingress.setting('proxy-body-size');
  const bytes = bytesOf(size);
  if (bytes !== undefined) return { maxRequestBodyBytes: bytes };
  ingress.notes.notTaken('proxy-body-size', 'is no size; the limit is 1 MiB', 'maxRequestBodyBytes of the route');
  return {};
}

/** Routes of the values of a header or a cookie that always, or never, go to the canary. */
function pinned(
  { notes, name }: Ingress,
  stable: ImportedRoute,
  backend: IngressPath['backend'],
  fields: ModelFields,
): ImportedRoute[] {
  const header = notes.text('canary-by-header');
  const value = notes.text('canary-by-header-value');
  const pattern = notes.text('canary-by-header-pattern');
  const cookie = notes.text('canary-by-cookie');
  const rank = (step: number) => [...stable.rank.slice(0, -1), step];
  const route = (suffix: string, step: number, headers: ModelFields, isCanary: boolean): ImportedRoute => ({
    ...stable,
    name: `${name}-${suffix}`,
    rank: rank(step),
    match: { ...stable.match, headers: [headers] },
    forward: {
      shares: isCanary ? [{ destination: backend }] : (stable.forward?.shares ?? []).slice(0, 1),
      fields,
    },
  });
  const routes: ImportedRoute[] = [];
  if (header !== undefined && pattern !== undefined)
    routes.push(route('header', 4, { name: header, value: pattern, regex: true }, true));
  else if (header !== undefined && value !== undefined) routes.push(route('header', 4, { name: header, value }, true));
  else if (header !== undefined)
    routes.push(
      route('always', 4, { name: header, value: 'always' }, true),
      route('never', 3, { name: header, value: 'never' }, false),
    );
  if (cookie !== undefined) {
    const matcher = (word: string) => ({ name: 'cookie', value: `(^|; )${cookie}=${word}(;|$)`, regex: true });
    const sample = (word: string) => ({ sample: { headers: { cookie: `${cookie}=${word}` } } });
    routes.push(
      { ...route('cookie-always', 2, matcher('always'), true), ...sample('always') },
      { ...route('cookie-never', 1, matcher('never'), false), ...sample('never') },
    );
  }
  return routes;
}

function pathOf({ path, type }: IngressPath, isRegex: boolean): PathMatch {
  if (isRegex) return { is: 'regex', text: `(?i)${fromBeginning(`^${path.replace(/^\^/, '')}`)}` };
  if (type === 'Exact') return { is: 'exact', text: path };
  return { is: type === 'Prefix' ? 'prefix' : 'begins', text: path };
}

function forwardFields({ notes }: Ingress, path: PathMatch): ModelFields {
  const target = notes.text('rewrite-target');
  const host = notes.text('upstream-vhost');
  const prefix = notes.text('x-forwarded-prefix');
  const proxied = notes.text('proxy-next-upstream');
  const tries = notes.number('proxy-next-upstream-tries');
  notes.approximated('proxy-next-upstream-timeout', 'timeouts.request bounds all tries together');
  const rewrite = {
    ...(target !== undefined && {
      pathRegex: {
        pattern: `^${path.text}.*$`.replace('^(?i)', '(?i)^'),
        substitution: target.replace(/\$(\d)/g, '$${$1}'),
      },
    }),
    ...(host !== undefined && { host }),
  };
  const isRetried = proxied !== undefined && proxied !== 'off';
  if (proxied !== undefined && isRetried) notes.approximated('proxy-next-upstream', 'conditions are those of retry.on');
  return {
    ...(Object.keys(rewrite).length > 0 && { rewrite }),
    ...(prefix !== undefined && { headers: { requestHeadersToAdd: [literalHeader('X-Forwarded-Prefix', prefix)] } }),
    ...(isRetried && { retry: { attempts: Math.max(1, (tries ?? 3) - 1), on: retryCauses(proxied) } }),
  };
}

function retryCauses(conditions: string): string[] {
  const words = conditions.split(/\s+/);
  return [
    'connection-failure',
    ...(words.includes('http_500') ? ['server-error'] : []),
    ...(words.some((each) => /^http_50[234]$/.test(each)) ? ['gateway-error'] : []),
  ];
}
