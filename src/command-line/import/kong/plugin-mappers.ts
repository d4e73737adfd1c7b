// Mappers of plugins by name. One that returns undefined has taken nothing.

import type { Ledger } from '../import-ledger.ts';
import type { ModelFields } from '../intermediate.ts';
import { allowing, celText, clientIn, isCidr, middleware } from '../shared/common.ts';
import type { Statement } from '../statement.ts';
import { acl, basicAuth, jwt, keyAuth } from './auth-mappers.ts';
import type { Consumer } from './consumers.ts';
import { type Given, type Mapper, one, type PluginResult } from './plugin-result.ts';

const nothing: PluginResult = { middlewares: [] };

export const pluginMappers: Readonly<Record<string, Mapper>> = {
  'rate-limiting': rateLimiting,
  cors,
  'ip-restriction': ipRestriction,
  'key-auth': keyAuth,
  'basic-auth': basicAuth,
  acl,
  'request-size-limiting': bodyLimit,
  jwt,
  'request-transformer': (given) => transformer(given, 'request'),
  'response-transformer': (given) => transformer(given, 'response'),
  'correlation-id': correlationId,
  'request-termination': termination,
  'grpc-web': ({ name, from, config, ledger }) => {
    if (config.statement !== from) ledger.notTaken(config.statement, 'gRPC-Web has no settings');
    return one(middleware(from, name, 'grpcWeb', {}));
  },
  'file-log': ({ name, from, config }) => {
    config.approximated('path', 'the directory must be one of proxy.accessLogDirectories');
    config.approximated('reopen', 'log files are reopened by themselves');
    return one(
      middleware(from, name, 'accessLog', {
        path: config.text('path') ?? 'stdout',
        json: true,
        onResponse: { fields: logFields },
      }),
    );
  },
  prometheus: ({ from, ledger }) => {
    ledger.approximated(from, 'switch on metrics of a listener; names of families are those of Sluice');
    markAll(from, ledger);
    return nothing;
  },
  opentelemetry: ({ from, ledger }) => {
    ledger.approximated(from, 'traces are switched on in the settings of the node');
    markAll(from, ledger);
    return nothing;
  },
};

const logFields = {
  time: '${request.id}',
  method: '${request.method}',
  path: '${request.path}',
  status: '${response.status}',
};

function markAll(from: Statement, ledger: Ledger): void {
  for (const child of from.children) {
    if (child.isListed) ledger.approximated(child, 'is set elsewhere in Sluice');
    markAll(child, ledger);
  }
}

const windows = { second: '1s', minute: '1m', hour: '1h', day: '24h' } as const;

function rateLimiting({ name, from, config, consumers }: Given): PluginResult | undefined {
  const limits = Object.entries(windows).flatMap(([key, per]) => {
    const requests = config.number(key);
    config.approximated(key, 'a bucket that refills takes the place of a fixed window');
    return requests === undefined ? [] : [{ requests, per }];
  });
  for (const key of ['month', 'year']) config.notTaken(key, 'limits are for a day at most', 'limits of a day');
  const by = config.text('limit_by') ?? 'consumer';
  const header = config.text('header_name');
  const policy = config.text('policy');
  const isShared = policy === 'cluster' || policy === 'redis';
  if (isShared) config.approximated('policy', 'the proxies of the cluster share the limits, and need no store');
  for (const key of ['fault_tolerant', 'hide_client_headers', 'sync_rate', 'error_code', 'error_message'])
    config.approximated(key, 'answers are those of Sluice: 429 with RateLimit and Retry-After');
  for (const key of ['redis', 'redis_host', 'redis_port', 'redis_database'])
    config.approximated(key, 'the cluster counts by itself');
  if (limits.length === 0) return undefined;
  const key = limitKey(by, header, consumers);
  if (key === undefined && by !== 'ip' && (by !== 'consumer' || consumers.length > 0))
    config.approximated('limit_by', 'the address of the client counts');
  config.notTaken('path', 'the limit is for the whole route', 'a route of its own');
  return one(
    middleware(from, name, 'rateLimit', {
      limits,
      ...(key !== undefined && { key }),
      ...(isShared && { scope: 'cluster' }),
    }),
  );
}

/** Kong counts by the address where there is no consumer. */
function limitKey(by: string, header: string | undefined, consumers: readonly Consumer[]): string | undefined {
  if (by === 'header' && header !== undefined) return `request.headers[${celText(header.toLowerCase())}]`;
  const isByConsumer = (by === 'consumer' || by === 'credential') && consumers.length > 0;
  return isByConsumer ? 'has(consumer.name) ? consumer.id : request.clientIp' : undefined;
}

function cors({ name, from, config }: Given): PluginResult {
  const origins = config.texts('origins');
  const maxAge = config.number('max_age');
  for (const key of ['preflight_continue', 'private_network'])
    config.approximated(key, 'preflights are answered by the proxy');
  const lists = (field: string, key: string) => {
    const values = config.texts(key);
    return values.length > 0 ? { [field]: values } : {};
  };
  return one(
    middleware(from, name, 'cors', {
      allowOrigins: (origins.length === 0 ? ['*'] : origins).map((value) =>
        value === '*' || /^https?:\/\/[A-Za-z0-9.:-]+$/.test(value) ? { value } : { value, regex: true },
      ),
      ...lists('allowMethods', 'methods'),
      ...lists('allowHeaders', 'headers'),
      ...lists('exposeHeaders', 'exposed_headers'),
      ...(maxAge !== undefined && { maxAge }),
      allowCredentials: config.isTrue('credentials'),
    }),
  );
}

function ipRestriction({ name, from, config }: Given): PluginResult | undefined {
  const [allow, deny] = [config.texts('allow'), config.texts('deny')];
  config.approximated('message', 'the body is that of a denial by Sluice');
  config.approximated('status', 'the status is 403');
  if ([...allow, ...deny].some((each) => !isCidr(each)) || allow.length + deny.length === 0) return undefined;
  if (deny.length === 0) return one(allowing(from, name, allow));
  const rules = [
    { cel: clientIn(deny), action: 'deny' },
    ...(allow.length > 0 ? [{ cel: clientIn(allow), action: 'allow' }] : []),
  ];
  return one(middleware(from, name, 'inlineAuthz', { rules, defaultAction: allow.length > 0 ? 'deny' : 'allow' }));
}

const payloadUnits: Readonly<Record<string, number>> = { megabytes: 2 ** 20, kilobytes: 2 ** 10, bytes: 1 };

function bodyLimit({ config }: Given): PluginResult | undefined {
  const size = config.number('allowed_payload_size') ?? 128;
  const unit = payloadUnits[config.text('size_unit') ?? 'megabytes'];
  config.approximated('require_content_length', 'bodies without a length are counted as they come');
  return unit === undefined ? undefined : { middlewares: [], maxRequestBodyBytes: size * unit };
}

function transformer({ name, from, config, ledger }: Given, side: 'request' | 'response'): PluginResult {
  const has = (header: string) =>
    side === 'request' ? `${celText(header.toLowerCase())} in request.headers` : undefined;
  const pairs = (verb: string): [string, string][] =>
    (config.child(verb)?.texts('headers') ?? []).map((each) => {
      const at = each.indexOf(':');
      return at < 0 ? [each, ''] : [each.slice(0, at).trim(), each.slice(at + 1).trim()];
    });
  const field = (key: string, value: string, more: ModelFields) => ({
    key,
    value,
    interpolate: false,
    ...more,
  });
  const when = (condition: string | undefined) => (condition === undefined ? {} : { when: condition });
  const add = pairs('add').map(([key, value]) => field(key, value, when(has(key) && `!(${has(key)})`)));
  const replace = pairs('replace').map(([key, value]) => field(key, value, when(has(key))));
  const append = pairs('append').map(([key, value]) => field(key, value, { append: true }));
  const remove = pairs('remove').map(([key]) => key);
  if (side === 'response')
    for (const verb of ['add', 'replace'])
      for (const each of config.child(verb)?.child('headers')?.statement.children ?? [])
        ledger.approximated(each, 'the field is set whether the upstream sent it or not');
  for (const verb of ['add', 'replace', 'append', 'remove', 'rename'])
    for (const part of ['querystring', 'body', 'json', 'json_types', 'uri', ...(verb === 'rename' ? ['headers'] : [])])
      config.child(verb)?.notTaken(part, 'only header fields are added, replaced and removed', 'extProc, rewrite');
  config.notTaken('http_method', 'the method stays as it is', 'extProc');
  const edits = [...replace, ...add, ...append];
  return one(
    middleware(from, name, 'headers', {
      ...(edits.length > 0 && { [`${side}HeadersToAdd`]: edits }),
      ...(remove.length > 0 && { [`${side}HeadersToRemove`]: remove }),
    }),
  );
}

function correlationId({ name, from, config }: Given): PluginResult {
  const header = config.text('header_name') ?? 'Kong-Request-ID';
  config.approximated('generator', 'ids are UUIDs of version 7');
  const value = { key: header, value: '${request.id}' };
  const when = `!(${celText(header.toLowerCase())} in request.headers)`;
  const echoes = config.isTrue('echo_downstream');
  if (echoes)
    config.approximated('echo_downstream', 'clients get the id of Sluice, where they sent one of their own, too');
  return one(
    middleware(from, name, 'headers', {
      requestHeadersToAdd: [{ ...value, when }],
      ...(echoes && { responseHeadersToAdd: [value] }),
    }),
  );
}

function termination({ config }: Given): PluginResult {
  const status = config.number('status_code') ?? 503;
  const message = config.text('message');
  const body = config.text('body');
  const contentType = config.text('content_type');
  config.notTaken('trigger', 'the route always answers so', 'match.headers');
  config.approximated('echo', 'the request is not echoed');
  return {
    middlewares: [],
    directResponse: {
      status,
      ...((body ?? message) !== undefined && { body: body ?? JSON.stringify({ message }) }),
      ...(contentType !== undefined && { contentType }),
    },
  };
}
