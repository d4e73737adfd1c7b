// Backends of HAProxy as destinations: servers, balancing, checks and times.
import type { ImportedDestination, ModelFields } from '../intermediate.ts';
import { destination, hostAndPort, ownCookie, stickyBy } from '../shared/common.ts';
import type { Statement } from '../statement.ts';
import { durationOf, type Section } from './proxy-section.ts';

export type Backend = Section;

interface Server {
  readonly from: Statement;
  readonly endpoint: ModelFields & { readonly host: string; readonly port: number };
  readonly words: readonly string[];
  value(name: string): string | undefined;
}

/** Returns the destination of a backend; undefined where it has no server that can be reached by TCP. */
export function destinationOf(backend: Backend): ImportedDestination | undefined {
  const { ledger, statement, name } = backend;
  const servers = backend.own('server').flatMap((each) => serverOf(each, backend));
  const [first] = servers;
  if (first === undefined) {
    ledger.notTaken(statement, 'it has no server with host and port; its routes answer 503', 'a destination');
    return undefined;
  }
  const options: ModelFields = {
    timeouts: {
      connect: backend.timeout('connect') ?? '0s',
      ...(!backend.isTcp && { responseHeader: backend.timeout('server') ?? '0s' }),
    },
    ...(sticky(backend, servers) ?? balancing(backend)),
    ...healthOf(backend, servers),
    ...tlsOf(backend, servers),
    ...connectionsOf(servers),
  };
  const made = destination(first.from, name, first.endpoint.host, first.endpoint.port, options);
  const isPlain = servers.length === 1 && Object.keys(first.endpoint).length === 2;
  return isPlain ? made : { ...made, fields: { ...made.fields, endpoints: servers.map(({ endpoint }) => endpoint) } };
}

const flags = new Set(
  (
    'check no-check backup ssl no-ssl check-ssl no-check-ssl send-proxy send-proxy-v2 disabled enabled non-stick check-send-proxy ' +
    'tfo no-tls-tickets no-sslv3 no-tlsv10 no-tlsv11 stick'
  ).split(' '),
);
const approximations: Readonly<Record<string, string>> = {
  maxconn: 'its connections count for the destination as a whole, and those beyond them wait',
  cookie: 'its value is no part of the cookie, which carries the placement itself',
  slowstart: 'a server that comes back has its whole share at once',
  observe: 'answers are watched by outlierDetection',
  'send-proxy': 'all servers get heads of the PROXY protocol',
  'send-proxy-v2': 'all servers get heads of the PROXY protocol',
};
const without = new Set(
  'init-addr resolvers resolve-prefer on-error on-marked-down on-marked-up error-limit id minconn maxqueue pool-max-conn pool-purge-delay fastinter downinter agent-port agent-check agent-inter ciphers ciphersuites ws proto check-alpn'.split(
    ' ',
  ),
);
const values = new Set(
  'weight verify ca-file crt sni inter fall rise port addr alpn verifyhost ssl-min-ver ssl-max-ver check-sni'.split(
    ' ',
  ),
);

function serverOf(statement: Statement, backend: Backend): Server[] {
  const { ledger } = backend;
  const [, address = '', ...own] = statement.words;
  const words = [...backend.all('default-server').flatMap((each) => each.words), ...own];
  const place = hostAndPort(address.replace(/^(ipv4|ipv6)@/, ''), 0);
  if (place === undefined || place.port === 0) {
    ledger.notTaken(statement, 'it has no host and port', 'an endpoint on TCP');
    return [];
  }
  const value = (name: string) => {
    const at = words.lastIndexOf(name);
    return at < 0 ? undefined : words[at + 1];
  };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (approximations[word] !== undefined) ledger.approximated(statement, approximations[word]);
    if (flags.has(word)) continue;
    if (!values.has(word) && approximations[word] === undefined)
      ledger.approximated(statement, `${word} has no counterpart${without.has(word) ? '' : ' that is known'}`);
    at += 1;
  }
  ledger.taken(statement);
  if (words.lastIndexOf('disabled') > words.lastIndexOf('enabled')) return [];
  const weight = Number(value('weight') ?? 1);
  if (weight === 0) {
    ledger.approximated(statement, 'with weight 0 it gets no requests, and is left out');
    return [];
  }
  const endpoint = { ...place, ...(weight !== 1 && { weight }), ...(words.includes('backup') && { priority: 1 }) };
  return [{ from: statement, endpoint, words, value }];
}

function balancing(backend: Backend): ModelFields {
  const { ledger } = backend;
  const statement = backend.one('balance');
  const [algorithm = 'roundrobin', argument] = statement?.words ?? [];
  const hashed = (hashPolicy: ModelFields): ModelFields => {
    if (statement !== undefined)
      ledger.approximated(statement, 'the ring has other places: a client may get another server');
    return { endpointBalancing: { algorithm: 'RING_HASH', ringHash: { hashPolicy: [hashPolicy] } } };
  };
  const header = /^hdr\(([A-Za-z0-9_-]+)\)$/.exec(algorithm)?.[1] ?? (algorithm === 'hdr' ? argument : undefined);
  if (statement !== undefined) ledger.taken(statement);
  if (algorithm === 'leastconn') return { endpointBalancing: { algorithm: 'LEAST_REQUEST' } };
  if (/^random/.test(algorithm)) return { endpointBalancing: { algorithm: 'RANDOM' } };
  if (algorithm === 'source') return hashed({ sourceIP: { enabled: true } });
  if (header !== undefined) return hashed({ header: { name: header } });
  if (statement !== undefined && !/^(roundrobin|static-rr)$/.test(algorithm))
    ledger.notTaken(statement, 'it has no counterpart; servers take turns', 'ringHash.hashPolicy');
  return {};
}

/** Clients kept by a cookie that HAProxy sets itself. */
function sticky(backend: Backend, servers: readonly Server[]): ModelFields | undefined {
  const { ledger, isTcp } = backend;
  const statement = backend.one('cookie');
  if (statement === undefined) return undefined;
  if (isTcp) {
    ledger.approximated(statement, 'connections have no cookies');
    return undefined;
  }
  const [name = '', ...words] = statement.words;
  if (!words.includes('insert')) {
    ledger.notTaken(statement, 'the cookie of an upstream is not changed', 'endpointBalancing STICKY');
    return undefined;
  }
  if (!words.includes('dynamic') && !servers.some((each) => each.words.includes('cookie'))) {
    ledger.approximated(statement, 'no server has a value of it: clients are not kept');
    return undefined;
  }
  ledger.approximated(statement, ownCookie);
  const balance = backend.one('balance');
  if (balance !== undefined) ledger.approximated(balance, 'new clients are spread by weight, then kept by the cookie');
  const [life] = words.slice(words.indexOf('maxlife') + 1);
  return { endpointBalancing: stickyBy(name, words.includes('maxlife') ? durationOf(life, 's') : undefined) };
}

function healthOf(backend: Backend, servers: readonly Server[]): ModelFields {
  const { ledger } = backend;
  const checked = servers.find(({ words }) => words.lastIndexOf('check') > words.lastIndexOf('no-check'));
  if (checked === undefined) return {};
  const option = backend.option('httpchk');
  const times: ModelFields = {
    interval: durationOf(checked.value('inter')) ?? '2s',
    unhealthyThreshold: Number(checked.value('fall') ?? 3),
    healthyThreshold: Number(checked.value('rise') ?? 2),
  };
  if (checked.value('port') !== undefined || checked.value('addr') !== undefined)
    ledger.approximated(checked.from, 'probes go to the port of the server');
  if (option === undefined) return { healthCheck: { type: 'tcp', ...times } };
  ledger.taken(option);
  const given = option.words.slice(1);
  const sent = backend.one('http-check', 'send');
  const word = (name: string) => (sent?.words.includes(name) ? sent.words[sent.words.indexOf(name) + 1] : undefined);
  const path = word('uri') ?? given.find((each) => each.startsWith('/')) ?? '/';
  const method = word('meth') ?? (given.length > 1 ? given[0] : 'OPTIONS');
  if (method !== 'GET') ledger.approximated(option, 'probes are GET requests');
  if (sent?.words.some((each) => /^(hdr|body|body-lf|uri-lf)$/.test(each)))
    ledger.approximated(sent, 'probes have a path alone');
  else if (sent !== undefined) ledger.taken(sent);
  const expected = backend.one('http-check', 'expect');
  const [, kind, codes = ''] = expected?.words ?? [];
  const isStatus = kind === 'status' && /^[0-9,-]+$/.test(codes);
  if (expected !== undefined && isStatus) ledger.taken(expected);
  else if (expected !== undefined)
    ledger.notTaken(expected, 'statuses alone are expected', 'healthCheck.expectedStatuses');
  const expectedStatuses = isStatus ? codes.split(',') : ['200-399'];
  return { healthCheck: { type: 'http', path, expectedStatuses, ...times } };
}

function tlsOf({ ledger }: Backend, servers: readonly Server[]): ModelFields {
  const secure = servers.filter(({ words }) => words.lastIndexOf('ssl') > words.lastIndexOf('no-ssl'));
  const [first] = secure;
  if (first === undefined) return {};
  if (secure.length < servers.length)
    ledger.approximated(first.from, 'all servers of a destination speak TLS, or none');
  if (first.value('verify') === 'none')
    ledger.approximated(first.from, 'certificates of upstreams are always verified: set options.tls.ca');
  const file = (path: string | undefined) =>
    path === undefined || path.startsWith('@') ? undefined : `{{secret:file:${path}}}`;
  const [pem, ca] = [file(first.value('crt')), file(first.value('ca-file'))];
  const sni = /^str\(([A-Za-z0-9.-]+)\)$/.exec(first.value('sni') ?? '')?.[1] ?? first.value('verifyhost');
  if (first.value('sni') !== undefined && sni === undefined)
    ledger.approximated(first.from, 'the server name is the host of the destination');
  const hasHttp2 = first.value('alpn')?.startsWith('h2') === true;
  const tls = {
    mode: pem === undefined ? 'tls' : 'mtls',
    ...(pem !== undefined && { cert: pem, key: pem }),
    ...(ca !== undefined && { ca }),
    ...(sni !== undefined && { sni }),
  };
  return { tls, ...(hasHttp2 && { http2: true }) };
}

function connectionsOf(servers: readonly Server[]): ModelFields {
  const limits = servers.map(({ value }) => Number(value('maxconn') ?? 0));
  const version = servers.flatMap(({ words }) => words.filter((each) => /^send-proxy(-v2)?$/.test(each)))[0];
  return {
    ...(limits.every((each) => each > 0) && { maxConnsPerHost: limits.reduce((sum, each) => sum + each, 0) }),
    ...(version !== undefined && { proxyProtocol: version === 'send-proxy' ? 'v1' : 'v2' }),
  };
}
