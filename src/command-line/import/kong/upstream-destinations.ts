// Destinations of services and upstreams of Kong.
import type { Fields } from '../fields.ts';
import type { ImportedDestination, ModelFields } from '../intermediate.ts';
import { hostAndPort, seconds, urlParts } from '../shared/common.ts';
import { withoutEffect } from './kong-fields.ts';

interface Upstream {
  readonly endpoints: readonly ModelFields[];
  readonly options: ModelFields;
  readonly host?: string;
}

export type Upstreams = ReadonlyMap<string, Upstream>;

export interface KongTarget {
  readonly destination: ImportedDestination | undefined;
  /** Path that upstreams get before that of the request. */
  readonly path: string;
  readonly retries: number | undefined;
  /** Host that replaces that of the client, where it is not that of the destination. */
  readonly hostHeader: string | undefined;
}

export function upstreamOf(fields: Fields): [string, Upstream] {
  withoutEffect(fields);
  const name = fields.text('name') ?? '';
  const targets = fields.list('targets').flatMap((each) => {
    withoutEffect(each);
    const place = hostAndPort(each.text('target') ?? '', 8000);
    const weight = each.number('weight') ?? 100;
    if (place === undefined) each.notTaken('target', 'is no host and port');
    return place === undefined || weight === 0 ? [] : [{ ...place, weight }];
  });
  const most = Math.max(...targets.map(({ weight }) => weight), 1);
  const scaled =
    most > 1000
      ? targets.map((each) => ({ ...each, weight: Math.max(1, Math.round((each.weight * 1000) / most)) }))
      : targets;
  const host = fields.text('host_header');
  return [
    name,
    { endpoints: scaled, options: { ...balancing(fields), ...health(fields) }, ...(host !== undefined && { host }) },
  ];
}

function balancing(fields: Fields): ModelFields {
  const algorithm = fields.text('algorithm') ?? 'round-robin';
  fields.approximated('slots', 'the ring has its own size');
  for (const key of ['hash_fallback', 'hash_fallback_header'])
    fields.approximated(key, 'a request without the key goes to any endpoint');
  const on = fields.text('hash_on') ?? 'none';
  const header = fields.text('hash_on_header');
  const cookie = fields.text('hash_on_cookie');
  fields.text('hash_on_cookie_path');
  if (algorithm === 'least-connections') return { endpointBalancing: { algorithm: 'LEAST_REQUEST' } };
  if (algorithm === 'latency') {
    fields.approximated('algorithm', 'LEAST_REQUEST takes the place of latency');
    return { endpointBalancing: { algorithm: 'LEAST_REQUEST' } };
  }
  if (algorithm !== 'consistent-hashing') return {};
  if (!['ip', 'header', 'cookie'].includes(on)) fields.approximated('hash_on', 'the address of the client is hashed');
  const policy =
    on === 'header' && header !== undefined
      ? { header: { name: header } }
      : on === 'cookie' && cookie !== undefined
        ? { cookie: { name: cookie } }
        : { sourceIP: { enabled: true } };
  return { endpointBalancing: { algorithm: 'RING_HASH', ringHash: { hashPolicy: [policy] } } };
}

function health(fields: Fields): ModelFields {
  const active = fields.at('healthchecks', 'active');
  const passive = fields.at('healthchecks', 'passive');
  fields.child('healthchecks')?.text('threshold');
  const interval = active?.at('healthy')?.number('interval') ?? 0;
  const failures = passive?.at('unhealthy')?.number('http_failures') ?? 0;
  const type = active?.text('type') ?? 'http';
  for (const part of [active, passive])
    for (const side of ['healthy', 'unhealthy']) {
      part?.text('type');
      for (const key of part?.child(side)?.keys ?? []) {
        const isRead = ['interval', 'successes', 'http_failures'].includes(key);
        if (!isRead)
          part?.child(side)?.approximated(key, 'statuses and counts are those of healthCheck and outlierDetection');
        else part?.child(side)?.text(key);
      }
    }
  active?.approximated('concurrency', 'probes are spread by themselves');
  active?.approximated('https_verify_certificate', 'certificates of upstreams are always verified');
  const healthCheck = {
    type: type === 'tcp' ? 'tcp' : 'http',
    ...(type !== 'tcp' && { path: active?.text('http_path') ?? '/' }),
    interval: seconds(interval),
    timeout: seconds(active?.number('timeout') ?? 1),
    healthyThreshold: active?.at('healthy')?.number('successes') ?? 0,
    unhealthyThreshold: active?.at('unhealthy')?.number('http_failures') ?? 0,
  };
  return {
    ...(interval > 0 && { healthCheck }),
    ...(failures > 0 && { outlierDetection: { consecutive5xx: failures } }),
  };
}

export function destinationOf(fields: Fields, upstreams: Upstreams): KongTarget {
  const name = fields.text('name') ?? 'service';
  const written = fields.text('url');
  const url = written === undefined ? undefined : urlParts(written);
  if (written !== undefined && url === undefined) fields.notTaken('url', 'is no URL of http');
  const protocol = fields.text('protocol') ?? (url?.isSecure === true ? 'https' : 'http');
  if (!['http', 'https', 'grpc', 'grpcs'].includes(protocol))
    fields.notTaken('protocol', `${protocol} is no protocol of routes`, 'streamRoutes');
  const isSecure = protocol === 'https' || protocol === 'grpcs';
  const host = fields.text('host') ?? url?.host;
  const port = fields.number('port') ?? url?.port ?? (isSecure ? 443 : 80);
  const path = fields.text('path') ?? (url?.hasPath === true ? url.path : '');
  const retries = fields.number('retries');
  const time = (key: string) => seconds((fields.number(key) ?? 60_000) / 1000);
  fields.approximated('write_timeout', 'timeouts.clientRequest of the listener bounds the request');
  for (const key of ['client_certificate', 'ca_certificates', 'tls_verify_depth'])
    fields.notTaken(key, 'certificates are not copied', 'options.tls of the destination');
  fields.approximated('tls_verify', 'certificates of upstreams are always verified');
  const upstream = upstreams.get(host ?? '');
  const first = upstream?.endpoints[0] as { host: string; port: number } | undefined;
  const options: ModelFields = {
    timeouts: { connect: time('connect_timeout'), responseHeader: time('read_timeout') },
    ...upstream?.options,
    ...(protocol.startsWith('grpc') && { http2: true }),
    ...(isSecure && { tls: { mode: 'tls' } }),
  };
  const disabled = fields.text('enabled') === 'false';
  if (host === undefined || disabled) return { destination: undefined, path, retries, hostHeader: undefined };
  const several = upstream !== undefined && upstream.endpoints.length > 0;
  return {
    destination: {
      from: fields.statement,
      name,
      fields: {
        host: first?.host ?? host,
        port: first?.port ?? port,
        ...(several && { endpoints: upstream.endpoints }),
        options,
      },
    },
    path: path === '/' ? '' : path,
    retries,
    hostHeader: upstream?.host,
  };
}
