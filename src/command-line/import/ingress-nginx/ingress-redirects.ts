// Routes that annotations add beside those of a place: redirects to https, to the root of an application, to another address.
import type { ImportedRoute } from '../intermediate.ts';
import { hostRank } from '../shared/common.ts';
import type { Ingress, IngressPath } from './ingress.ts';

/** Above every path of the host. */
const above = 3;

/** `isFirst`: the place is the first one of its host, with which what is for the whole host is added. */
export function addedRoutes(ingress: Ingress, at: IngressPath, isFirst: boolean): ImportedRoute[] {
  const { notes, name } = ingress;
  const hosts = at.host === '' ? [] : [at.host, ...notes.list('server-alias')];
  const base = { from: at.from, hosts, middlewares: [] };
  const path =
    at.type === 'Exact' ? ({ is: 'exact', text: at.path } as const) : ({ is: 'prefix', text: at.path } as const);
  const rank = (step: number) => [...hostRank(at.host), above, at.path.length, step];
  const routes: ImportedRoute[] = [];
  if (isFirst && sendsToHttps(ingress, at.host))
    routes.push({
      ...base,
      name: `${name}-to-https`,
      rank: rank(1),
      match: { scheme: 'http' },
      redirect: { scheme: 'https', code: 308 },
    });
  const root = notes.text('app-root');
  if (isFirst && root !== undefined)
    routes.push({
      ...base,
      name: `${name}-root`,
      rank: rank(0),
      path: { is: 'exact', text: '/' },
      redirect: { path: root, pathMode: 'full', stripQuery: true, code: 302 },
    });
  for (const [key, usual] of Object.entries({ 'permanent-redirect': 301, 'temporal-redirect': 302 })) {
    const url = notes.text(key);
    const code = notes.number(`${key}-code`) ?? usual;
    if (url === undefined) continue;
    if (url.includes('$')) notes.notTaken(key, 'variables in the location have no counterpart', 'redirect of a route');
    else routes.push({ ...base, name: `${name}-${key}`, rank: rank(0), path, redirect: { url, code } });
  }
  const www = notes.isTrue('from-to-www-redirect');
  if (isFirst && www && at.host !== '' && !at.host.startsWith('*'))
    routes.push({
      ...base,
      name: `${name}-www`,
      hosts: [at.host.startsWith('www.') ? at.host.slice(4) : `www.${at.host}`],
      rank: rank(2),
      redirect: { host: at.host, code: 308 },
    });
  return routes;
}

/** Hosts with a certificate go to https unless it is switched off. */
function sendsToHttps(ingress: Ingress, host: string): boolean {
  if (ingress.setting('force-ssl-redirect') === 'true') return true;
  const isOn = ingress.setting('ssl-redirect') !== 'false';
  return isOn && ingress.tls.some(({ hosts }) => hosts.length === 0 || hosts.includes(host));
}
