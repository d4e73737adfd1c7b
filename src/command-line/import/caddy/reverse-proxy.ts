// `reverse_proxy` of Caddy as a forward to one destination.
import { parseDuration } from '../../../model/duration.ts';
import type { Fields } from '../fields.ts';
import type { ImportedRoute, ModelFields } from '../intermediate.ts';
import { hostAndPort, seconds } from '../shared/common.ts';
import { headerEdits } from './placeholders.ts';

export function reverseProxy(name: string, handler: Fields, rewrite: ModelFields): ImportedRoute['forward'] {
  for (const key of [
    'flush_interval',
    'buffer_requests',
    'buffer_responses',
    'request_buffers',
    'response_buffers',
    'stream_timeout',
    'stream_close_delay',
  ])
    handler.approximated(key, 'bodies are streamed, and bytes go on as they come');
  for (const key of ['handle_response', 'dynamic_upstreams', 'trusted_proxies', 'rewrite'])
    handler.notTaken(key, 'has no counterpart', 'errorPages, discovery, trustedProxies');
  const endpoints = handler.list('upstreams').flatMap((each) => {
    const place = hostAndPort((each.text('dial') ?? '').replace(/^tcp\//, ''), 80);
    each.approximated('max_requests', 'is of the whole destination: circuitBreaker');
    if (place === undefined) each.notTaken('dial', 'is no host and port', 'an upstream on TCP');
    return place === undefined ? [] : [{ ...place, host: place.host === 'localhost' ? '127.0.0.1' : place.host }];
  });
  const [first] = endpoints;
  const transport = handler.child('transport');
  const tls = transport?.child('tls');
  transport?.text('protocol');
  const versions = transport?.texts('versions') ?? [];
  for (const key of transport?.keys ?? [])
    if (!['protocol', 'tls', 'versions', 'dial_timeout', 'response_header_timeout'].includes(key))
      transport?.approximated(key, 'connections to upstreams are pooled by themselves');
  tls?.notTaken('insecure_skip_verify', 'certificates of upstreams are always verified', 'options.tls.ca');
  const sni = tls?.text('server_name');
  const time = (key: string) => {
    const text = transport?.text(key);
    return text === undefined ? undefined : durationOf(text);
  };
  const [connect, header] = [time('dial_timeout'), time('response_header_timeout')];
  const options: ModelFields = {
    timeouts: { ...(connect !== undefined && { connect }), responseHeader: header ?? '0s' },
    ...balancing(handler),
    ...health(handler),
    ...(tls !== undefined && { tls: { mode: 'tls', ...(sni !== undefined && { sni }) } }),
    ...(versions.some((each) => each === 'h2c' || each === '2') && !versions.includes('1.1') && { http2: true }),
  };
  const retries = handler.child('load_balancing')?.number('retries');
  for (const key of ['try_duration', 'try_interval', 'retry_match'])
    handler.child('load_balancing')?.approximated(key, 'tries are those of forward.retry');
  const edits = handler.find('headers') === undefined ? {} : headerEdits(handler.child('headers') ?? handler);
  const { host, headers } = withoutHost(edits);
  if (first === undefined) return undefined;
  const whole = { ...rewrite, ...(host !== undefined && { host }) };
  return {
    shares: [
      {
        destination: {
          from: handler.statement,
          name,
          fields: { host: first.host, port: first.port, ...(endpoints.length > 1 && { endpoints }), options },
        },
      },
    ],
    fields: {
      ...(Object.keys(whole).length > 0 && { rewrite: whole }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(retries !== undefined && { retry: { attempts: retries, on: ['connection-failure'] } }),
    },
  };
}

/** A fixed Host is a rewrite, any other edit a field. */
function withoutHost(edits: ModelFields): { readonly host?: string; readonly headers: ModelFields } {
  const added = (edits.requestHeadersToAdd ?? []) as readonly { readonly key: string; readonly value: string }[];
  const host = added.find(({ key, value }) => key.toLowerCase() === 'host' && !value.includes('${'))?.value;
  if (host === undefined) return { headers: edits };
  const rest = added.filter(({ key }) => key.toLowerCase() !== 'host');
  const { requestHeadersToAdd: _, ...others } = edits;
  return { host, headers: { ...others, ...(rest.length > 0 && { requestHeadersToAdd: rest }) } };
}

/** Duration of Go's, or nanoseconds. */
function durationOf(text: string): string | undefined {
  if (/^\d+$/.test(text)) return seconds(Number(text) / 1e9);
  const milliseconds = parseDuration(text);
  return milliseconds === undefined ? undefined : seconds(milliseconds / 1000);
}

function balancing(handler: Fields): ModelFields {
  const policy = handler.child('load_balancing')?.child('selection_policy');
  const kind = policy?.text('policy');
  const hashed = (hashPolicy: ModelFields) => {
    policy?.approximated('policy', 'the ring has other places: a client may get another upstream');
    return { endpointBalancing: { algorithm: 'RING_HASH', ringHash: { hashPolicy: [hashPolicy] } } };
  };
  switch (kind) {
    case undefined:
    case 'random':
      return { endpointBalancing: { algorithm: 'RANDOM' } };
    case 'round_robin':
      return {};
    case 'least_conn':
    case 'random_choose':
      policy?.number('choose');
      return { endpointBalancing: { algorithm: 'LEAST_REQUEST' } };
    case 'ip_hash':
    case 'client_ip_hash':
      return hashed({ sourceIP: { enabled: true } });
    case 'header':
      return hashed({ header: { name: policy?.text('field') ?? 'x' } });
    case 'cookie':
      return hashed({ cookie: { name: policy?.text('name') ?? 'lb' } });
    default:
      policy?.approximated('policy', 'ROUND_ROBIN takes its place');
      return {};
  }
}

function health(handler: Fields): ModelFields {
  const [active, passive] = [
    handler.child('health_checks')?.child('active'),
    handler.child('health_checks')?.child('passive'),
  ];
  const path = active?.text('uri') ?? active?.text('path');
  const [interval, timeout] = [
    durationOf(active?.text('interval') ?? '30s'),
    durationOf(active?.text('timeout') ?? '5s'),
  ];
  const status = active?.text('expect_status');
  const fails = passive?.number('max_fails');
  for (const key of active?.keys ?? [])
    if (!['uri', 'path', 'interval', 'timeout', 'expect_status'].includes(key))
      active?.approximated(key, 'probes are GET to the endpoint itself');
  for (const key of passive?.keys ?? [])
    if (key !== 'max_fails') passive?.approximated(key, 'failures are counted by outlierDetection');
  return {
    ...(path !== undefined && {
      healthCheck: {
        path,
        interval,
        timeout,
        ...(status !== undefined && /^\d{3}$/.test(status) && { expectedStatuses: [status] }),
      },
    }),
    ...(fails !== undefined &&
      fails > 0 && { outlierDetection: { consecutiveGatewayErrors: fails, consecutive5xx: 0 } }),
  };
}
