// Plugins of Kong: which one counts on a route, in Kong's order of priorities.
import type { Fields } from '../fields.ts';
import { closed } from '../shared/common.ts';
import type { Consumer } from './consumers.ts';
import { withoutEffect } from './kong-fields.ts';
import { pluginMappers } from './plugin-mappers.ts';
import type { PluginResult } from './plugin-result.ts';

/** Outermost first. */
const order = [
  'correlation-id',
  'file-log',
  'compress',
  'grpc-web',
  'cors',
  'jwt',
  'key-auth',
  'basic-auth',
  'ip-restriction',
  'acl',
  'request-size-limiting',
  'rate-limiting',
  'response-ratelimiting',
  'request-transformer',
  'response-transformer',
  'request-termination',
];

/** Plugins that let only some requests pass: a route is closed where one cannot be taken. */
const guards = [
  'acl',
  'jwt',
  'key-auth',
  'basic-auth',
  'ip-restriction',
  'hmac-auth',
  'ldap-auth',
  'ldap-auth-advanced',
  'oauth2',
  'oauth2-introspection',
  'openid-connect',
  'mtls-auth',
  'session',
  'opa',
  'key-auth-enc',
  'vault-auth',
  'saml',
  'bot-detection',
  'pre-function',
  'forward-auth',
];

export class Plugins {
  readonly #global: readonly Fields[];
  readonly #consumers: readonly Consumer[];

  constructor(all: readonly Fields[], consumers: readonly Consumer[]) {
    this.#global = all;
    this.#consumers = consumers;
    for (const each of all) this.#read(each);
  }

  /** Returns what counts on a route: of plugins of one name that of the route, else of the service, else the global one. */
  of(
    name: string,
    ofRoute: readonly Fields[],
    ofService: readonly Fields[],
    bound: { readonly route: string; readonly service: string | undefined },
  ): PluginResult {
    const isFor = (plugin: Fields): number => {
      const [route, service] = [referred(plugin, 'route'), referred(plugin, 'service')];
      if (referred(plugin, 'consumer') !== undefined) return -1;
      if (route !== undefined) return route === bound.route ? 3 : -1;
      return service === undefined ? 1 : service === bound.service ? 2 : -1;
    };
    const ranked = [
      ...ofRoute.map((plugin) => ({ plugin, rank: 3 })),
      ...ofService.map((plugin) => ({ plugin, rank: 2 })),
      ...this.#global.map((plugin) => ({ plugin, rank: isFor(plugin) })),
    ].filter(({ rank }) => rank > 0);
    const chosen = new Map<string, { plugin: Fields; rank: number }>();
    for (const each of ranked) {
      const key = each.plugin.text('name') ?? '';
      if ((chosen.get(key)?.rank ?? 0) < each.rank) chosen.set(key, each);
      this.#read(each.plugin);
    }
    const sorted = [...chosen].toSorted(([a], [b]) => placeOf(a) - placeOf(b));
    const results = sorted.map(([key, { plugin }]) => this.#result(name, key, plugin));
    const answer = results.findLast(({ directResponse }) => directResponse !== undefined)?.directResponse;
    const limit = results.find(({ maxRequestBodyBytes }) => maxRequestBodyBytes !== undefined);
    return {
      middlewares: results.flatMap(({ middlewares }) => middlewares),
      ...(answer !== undefined && { directResponse: answer }),
      ...(limit !== undefined && { maxRequestBodyBytes: limit.maxRequestBodyBytes }),
    };
  }

  #result(name: string, key: string, plugin: Fields): PluginResult {
    if (plugin.text('enabled') === 'false') {
      plugin.ledger.takenWhole(plugin.statement);
      return { middlewares: [] };
    }
    const mapper = pluginMappers[key];
    const { ledger, statement: from } = plugin;
    const result = mapper?.({
      name: `${name}-${key}`,
      from,
      config: plugin.child('config') ?? plugin,
      ledger,
      consumers: this.#consumers,
    });
    if (result !== undefined) return result;
    const isGuard = guards.includes(key);
    ledger.notTaken(
      from,
      `the plugin ${key} has no counterpart${isGuard ? '; its routes are closed (403)' : ''}`,
      isGuard ? 'jwt, basicAuth, extAuthz, inlineAuthz' : 'extProc',
    );
    return { middlewares: isGuard ? [closed(from, `${name}-${key}-closed`)] : [] };
  }

  #read(plugin: Fields): void {
    withoutEffect(plugin);
    plugin.text('name');
    plugin.text('enabled');
    for (const key of ['protocols', 'instance_name', 'ordering'])
      plugin.approximated(key, 'middlewares run for all requests of the route, in their order');
    if (referred(plugin, 'consumer') !== undefined)
      plugin.ledger.notTaken(
        plugin.statement,
        'middlewares are not bound to consumers',
        'skipWhen and onlyWhen of the middleware',
      );
  }
}

const placeOf = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);

const referred = (plugin: Fields, key: string): string | undefined => {
  const found = plugin.find(key);
  if (found === undefined) return undefined;
  return found.children.length === 0
    ? plugin.text(key)
    : (plugin.at(key)?.text('name') ?? plugin.at(key)?.text('username') ?? plugin.at(key)?.text('id'));
};
