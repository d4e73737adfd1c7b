// Protections of the guarded node as an oracle: which requests may never reach its upstream, judged by nothing but the
// request that did.
import { createHash } from 'node:crypto';
import { type SeenRequest, valuesOf } from './seen-request.ts';

/** Fields that only the node may set or has to remove, on each route. */
const edge = { set: 'x-edge', removed: 'x-internal' };
/** Fields that a middleware of the area sets from its own knowledge: no spelling of a client's may pass. */
const areasThatVouch: Readonly<Record<string, readonly string[]>> = {
  jwt: ['x-user'],
  authz: ['x-authz'],
  grpc: ['x-authz'],
  all: ['x-user', 'x-authz'],
};
/** Never travels beyond one connection (RFC 9110 §7.6.1). */
const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'upgrade', 'trailer'];

export interface Oracle {
  /** Valid tokens, with their users. */
  readonly tokens: ReadonlyMap<string, string>;
}

/** Value that the authorizer returns for what it was shown. */
export const authzOf = (method: string, path: string): string =>
  createHash('sha1').update(`${method} ${path}`).digest('hex');

/** Path as a lenient upstream reads it: everything decoded but what never separates, slashes merged, dots resolved. */
function lenientPath(target: string): string {
  const path = (target.split(/[?#]/, 1)[0] ?? '').replace(/%(?!2f|5c)([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const kept: string[] = [];
  for (const segment of path.replaceAll('\\', '/').split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

/** Returns why the node should not have passed this request on; undefined when it may. */
export function violationOf(request: SeenRequest, { tokens }: Oracle): string | undefined {
  const { method, target } = request;
  const path = lenientPath(target);
  const [, area = ''] = path.split('/');
  const one = (name: string): string | undefined => {
    const values = valuesOf(request, name);
    return values.length === 1 ? values[0] : undefined;
  };
  if (!target.startsWith('/') && !(method === 'OPTIONS' && target === '*')) return 'a target that is no path';
  if (area === 'private') return 'a path that is closed';
  if (one(edge.set) !== 'v1') return `${edge.set} is not the node's alone`;
  if (valuesOf(request, edge.removed).length > 0) return `${edge.removed} is there`;
  const travelled = hopByHop.find((name) => valuesOf(request, name).length > 0 && !isUpgrade(request));
  if (travelled !== undefined) return `${travelled} travels on`;
  const all = area === 'all';
  const vouched = [edge.set, edge.removed, ...(areasThatVouch[area] ?? [])];
  const trailer = request.trailers.find(([name]) => isSpelling(name, [...vouched, 'host', 'content-length']));
  if (trailer !== undefined) return `trailer ${trailer[0]}`;
  if (all || area === 'jwt') {
    const [, token = ''] = /^bearer +(\S+)$/i.exec(one('authorization') ?? '') ?? [];
    const user = tokens.get(token);
    if (user === undefined) return 'no token that counts';
    if (spellings(request, 'x-user').join() !== user) return "x-user is not the token's alone";
  }
  if (all || area === 'rules') {
    // `delete` is another method (RFC 9110 §9.1).
    if (method === 'DELETE') return 'DELETE';
    if (valuesOf(request, 'user-agent').join(', ').includes('evil')) return 'an evil user agent';
    if (path.includes('secret')) return 'a path with a secret';
    const query = /\?([^#]*)/.exec(target)?.[1] ?? '';
    if (new URLSearchParams(query).getAll('q').includes('bad')) return 'a bad q';
    if (valuesOf(request, 'x-tenant').join(', ') !== 'public') return 'another tenant';
  }
  if (all || area === 'authz' || area === 'grpc') {
    const asked = target.split('?', 1)[0] ?? '';
    if (spellings(request, 'x-authz').join() !== authzOf(method, asked)) return 'another request was authorized';
    if (valuesOf(request, 'x-pass').join(', ') !== 'yes') return 'no pass';
    if (path.includes('secret')) return 'a path with a secret';
  }
  if ((all || area === 'proc' || area === 'body') && request.body.includes('forbidden')) return 'a forbidden body';
  return undefined;
}

const isUpgrade = (request: SeenRequest): boolean => valuesOf(request, 'upgrade').length > 0;

/** Lines of a field in any spelling that frameworks take for it. */
const spellings = (request: SeenRequest, name: string): string[] =>
  request.fields.filter(([other]) => isSpelling(other, [name])).map(([, value]) => value);

const isSpelling = (name: string, names: readonly string[]): boolean =>
  names.includes(name.toLowerCase().replaceAll('_', '-'));
