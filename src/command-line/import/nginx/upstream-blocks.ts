// Upstreams of nginx as destinations.
import type { ImportedDestination, ModelFields } from '../intermediate.ts';
import { hostAndPort, seconds } from '../shared/common.ts';
import type { Statement } from '../statement.ts';
import { Scope, secondsOf } from './scope.ts';

interface Upstream {
  readonly endpoints: readonly ModelFields[];
  readonly options: ModelFields;
}

export type Upstreams = ReadonlyMap<string, Upstream>;

export function upstreamsIn(http: Scope): Upstreams {
  return new Map(http.own('upstream').map((statement) => [statement.words[0] ?? '', upstreamOf(statement, http)]));
}

function upstreamOf(statement: Statement, http: Scope): Upstream {
  const scope = new Scope(statement, http.ledger, http);
  const servers = scope.own('server').map((each) => endpointOf(each, scope));
  const endpoints = servers.flatMap(({ endpoint }) => (endpoint === undefined ? [] : [endpoint]));
  const fails = Math.max(0, ...servers.map(({ fails }) => fails ?? 0));
  return {
    endpoints,
    options: {
      ...balancing(scope),
      ...(fails > 0 && { outlierDetection: { consecutive5xx: 0, consecutiveGatewayErrors: fails } }),
    },
  };
}

function endpointOf(
  statement: Statement,
  { ledger }: Scope,
): { readonly endpoint?: ModelFields; readonly fails?: number } {
  const [address = '', ...parameters] = statement.words;
  const place = hostAndPort(address, 80);
  if (place === undefined) {
    ledger.notTaken(statement, 'is no host and port', 'an upstream on TCP');
    return {};
  }
  const text = (name: string): string | undefined =>
    parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  if (parameters.includes('down')) return {};
  const weight = Number(text('weight') ?? 1);
  const fails = text('max_fails');
  if (fails !== undefined || text('fail_timeout') !== undefined)
    ledger.approximated(statement, 'failures are counted by outlierDetection of the whole destination');
  const others = parameters.filter((each) => !/^(weight|max_fails|fail_timeout)=|^backup$/.test(each));
  if (others.length > 0) ledger.approximated(statement, `${others.join(', ')} has no counterpart`);
  return {
    endpoint: { ...place, ...(weight !== 1 && { weight }), ...(parameters.includes('backup') && { priority: 1 }) },
    ...(fails !== undefined && { fails: Number(fails) }),
  };
}

function balancing(scope: Scope): ModelFields {
  const hashed = (hashPolicy: ModelFields) => ({
    endpointBalancing: { algorithm: 'RING_HASH', ringHash: { hashPolicy: [hashPolicy] } },
  });
  const [hash] = scope.own('hash');
  const key = hash?.words[0] ?? '';
  const header = /^\$http_([a-z0-9_]+)$/.exec(key)?.[1];
  const cookie = /^\$cookie_(\w+)$/.exec(key)?.[1];
  if (scope.own('least_conn').length > 0) return { endpointBalancing: { algorithm: 'LEAST_REQUEST' } };
  if (scope.own('random').length > 0) return { endpointBalancing: { algorithm: 'RANDOM' } };
  if (scope.own('ip_hash').length > 0 || key === '$remote_addr' || key === '$binary_remote_addr') {
    for (const each of scope.own('ip_hash'))
      scope.ledger.approximated(each, 'the whole address is hashed, not its network');
    return hashed({ sourceIP: { enabled: true } });
  }
  if (header !== undefined) return hashed({ header: { name: header.replaceAll('_', '-') } });
  if (cookie !== undefined) return hashed({ cookie: { name: cookie } });
  if (hash !== undefined)
    scope.ledger.notTaken(hash, 'only addresses, headers and cookies are hashed', 'ringHash.hashPolicy');
  return {};
}

/** Destination of `proxy_pass`: an upstream by its name, or one address. */
export function destinationFor(
  scope: Scope,
  target: { readonly host: string; readonly port: number; readonly isSecure: boolean; readonly hasPort: boolean },
  upstreams: Upstreams,
  isGrpc: boolean,
): ImportedDestination {
  const { host, port, isSecure } = target;
  const upstream = upstreams.get(host);
  const from = scope.one(isGrpc ? 'grpc_pass' : 'proxy_pass') ?? scope.statement;
  const time = (name: string, usual: number) => seconds(secondsOf(scope.word(name)) ?? usual);
  const options: ModelFields = {
    timeouts: {
      connect: time('proxy_connect_timeout', 60),
      responseHeader: time(isGrpc ? 'grpc_read_timeout' : 'proxy_read_timeout', 60),
    },
    ...upstream?.options,
    ...(isGrpc && { http2: true }),
    ...(isSecure && { tls: tlsOptions(scope, from) }),
  };
  if (JSON.stringify(upstream?.options ?? {}).includes('RING_HASH'))
    scope.ledger.approximated(from, 'the ring has other places: a client may get another server than from nginx');
  const [first] = (upstream?.endpoints ?? []) as { readonly host: string; readonly port: number }[];
  return {
    from,
    name: upstream === undefined ? `${host}-${port}` : host,
    fields: {
      host: first?.host ?? host,
      port: first?.port ?? port,
      ...(upstream !== undefined && upstream.endpoints.length > 0 && { endpoints: upstream.endpoints }),
      options,
    },
  };
}

function tlsOptions(scope: Scope, from: Statement): ModelFields {
  const file = (name: string): string | undefined => {
    const path = scope.word(name);
    return path === undefined ? undefined : `{{secret:file:${path}}}`;
  };
  const [cert, key, ca] = [
    file('proxy_ssl_certificate'),
    file('proxy_ssl_certificate_key'),
    file('proxy_ssl_trusted_certificate'),
  ];
  const sni = scope.word('proxy_ssl_name');
  if (scope.word('proxy_ssl_verify') !== 'on')
    scope.ledger.approximated(from, 'certificates of upstreams are always verified: set options.tls.ca');
  return {
    mode: cert !== undefined && key !== undefined ? 'mtls' : 'tls',
    ...(cert !== undefined && key !== undefined && { cert, key }),
    ...(ca !== undefined && { ca }),
    ...(sni !== undefined && !sni.includes('$') && { sni }),
  };
}
