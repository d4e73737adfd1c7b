// The cases of `npm run bench`: who takes part in each, and what is done to them.
import { descriptorBounds } from '../../../src/proxy/socket/descriptors.ts';
import { heldLoopsEnv } from '../../support/held-loops.ts';
import { fixedRate, h2load, handshakes, idleConnections, type Load, telling, weighing, wrk } from './loads.ts';
import { sluiceProgram } from './programs.ts';
import {
  type Contestant,
  caddy,
  haproxy,
  haproxyTcp,
  nginx,
  nginxAuthRequest,
  nginxGzip,
  nginxLimits,
  nginxLog,
  type Scene,
  sluice,
} from './proxies.ts';
import { token } from './sluice.ts';
import { variedRequests } from './varied-requests.ts';

export interface Case {
  readonly name: string;
  readonly title: string;
  readonly scene: Scene;
  readonly proxies: readonly Contestant[];
  readonly load: Load;
  /** Figure whose ratios are shown. Default: CPU per request. */
  readonly figure?: 'micros' | 'p99' | 'kb';
}

/** Says how long its loops are held. */
const told = [heldLoopsEnv.NODE_OPTIONS ?? ''];
const plain: Scene = { routes: 1, tls: false, http2: false, grpc: false };
const others = [nginx(), haproxy, caddy];
const all = [sluice('sluice'), sluice('sluice-2', { workers: 2 }), ...others];
const one = [sluice('sluice'), ...others];
const tcp = [sluice('sluice-tcp', { features: ['tcp'] }), haproxyTcp];

const pipelined = `init = function(args) local r = {} for i = 1, 16 do r[i] = wrk.format(nil, "/") end req = table.concat(r) end
request = function() return req end
`;
const upload = `wrk.method = "POST"\nwrk.body = string.rep("x", 1048576)\n`;
const smallPost = `wrk.method = "POST"\nwrk.body = string.rep("x", 100)\n`;
const common = [...['Origin: https://a.test', 'User-Agent: Mozilla/5.0 (X11; Linux x86_64)', 'Accept: */*']];

/** Connections through a proxy, each of which costs it two descriptors; 10,000 where the system gives it that many. */
const tunnelsMax = Math.min(10_000, Math.floor((descriptorBounds.clients - 1_000) / 2));

export const cases: readonly Case[] = [
  { name: 'small-get', title: 'small GET, 1 route', scene: plain, proxies: all, load: wrk('/') },
  {
    name: 'proxy-mode',
    title: 'small GET, the whole program: within a node, and apart from it',
    scene: plain,
    proxies: [sluiceProgram('sluice-node', 'embedded'), sluiceProgram('sluice-proxy', 'proxy')],
    load: wrk('/'),
  },
  {
    name: 'small-get-1000',
    title: 'small GET, 1,000 routes',
    scene: { ...plain, routes: 1_000 },
    proxies: all,
    load: wrk('/service-500/api/x'),
  },
  {
    name: 'varied',
    title: '20,000 different requests of browsers, 1,000 routes',
    scene: { ...plain, routes: 1_000 },
    proxies: all,
    load: wrk('/', { script: variedRequests }),
  },
  {
    name: 'pipelined',
    title: '16 requests pipelined, 16 connections',
    scene: plain,
    proxies: all,
    load: wrk('/', { connections: 16, script: pipelined }),
  },
  {
    name: 'new-connections',
    title: 'a new connection for each request',
    scene: plain,
    proxies: all,
    load: wrk('/', { headers: ['Connection: close'] }),
  },
  {
    name: 'rate-5000',
    title: '5,000 requests a second, 1,000 routes: latency',
    scene: { ...plain, routes: 1_000 },
    proxies: all,
    load: fixedRate('/service-500/api/x', 5_000, 50),
    figure: 'p99',
  },
  {
    name: 'reloads',
    title: '50 changes a second of 5,000 routes, 2,000 requests a second: latency, and loops held',
    scene: { ...plain, routes: 5_000 },
    proxies: [
      sluice('sluice', { nodeOptions: told }),
      sluice('sluice-reloads', { features: ['reloads'], nodeOptions: told }),
    ],
    load: telling(fixedRate('/service-4500/api/x', 2_000, 50)),
    figure: 'p99',
  },
  {
    name: 'tls-keep-alive',
    title: 'HTTP/1.1 keep-alive over TLS 1.3',
    scene: { ...plain, tls: true },
    proxies: one,
    load: wrk('/'),
  },
  {
    name: 'handshakes',
    title: 'full handshakes of TLS 1.3, ECDSA P-256',
    scene: { ...plain, tls: true },
    proxies: one,
    load: handshakes('full'),
  },
  {
    name: 'handshakes-resumed',
    title: 'resumed handshakes of TLS 1.3',
    scene: { ...plain, tls: true },
    proxies: one,
    load: handshakes('resumed'),
  },
  {
    name: 'http2',
    title: 'HTTP/2 over TLS, 32 connections of 16 streams',
    scene: { ...plain, tls: true, http2: true },
    proxies: one,
    load: h2load('/', { connections: 32, streams: 16 }),
  },
  {
    name: 'http2-cleartext',
    title: 'HTTP/2 in cleartext, 32 connections of 16 streams',
    scene: { ...plain, http2: true },
    proxies: one,
    load: h2load('/', { connections: 32, streams: 16 }),
  },
  {
    name: 'grpc',
    title: 'unary gRPC calls, HTTP/2 on both sides, 32 connections of 16 streams',
    scene: { ...plain, http2: true, grpc: true },
    proxies: one,
    load: h2load('/bench.Echo/Unary', { connections: 32, streams: 16, grpc: true }),
  },
  { name: '64-kb', title: '64 KB response', scene: plain, proxies: one, load: wrk('/64k') },
  {
    name: 'download',
    title: '10 MB response',
    scene: plain,
    proxies: one,
    load: wrk('/10m', { connections: 8, bytes: 10 << 20 }),
  },
  {
    name: 'download-http2',
    title: '10 MB response, HTTP/2 over TLS',
    scene: { ...plain, tls: true, http2: true },
    proxies: one,
    load: h2load('/10m', { connections: 8, streams: 1, bytes: 10 << 20 }),
  },
  {
    name: 'upload',
    title: '1 MB upload',
    scene: plain,
    proxies: one,
    load: wrk('/upload', { connections: 16, script: upload }),
  },
  {
    name: 'policies',
    title: 'retries, breaker, outlier detection and health checks',
    scene: plain,
    proxies: [sluice('sluice'), sluice('sluice-policies', { features: ['policies'] })],
    load: wrk('/'),
  },
  {
    name: 'mirror-upload',
    title: '50 uploads of 1 MB a second, copied to where nobody reads: latency, and memory',
    scene: plain,
    proxies: [sluice('sluice'), sluice('sluice-mirror', { features: ['mirror'] })],
    load: weighing(fixedRate('/upload', 50, 10, '1m')),
    figure: 'p99',
  },
  {
    name: 'mirror',
    title: '2,000 small GETs a second, copied to where nobody reads: latency, and memory',
    scene: plain,
    proxies: [sluice('sluice'), sluice('sluice-mirror', { features: ['mirror'] })],
    load: weighing(fixedRate('/', 2_000, 50)),
    figure: 'p99',
  },
  {
    name: 'mirror-compare',
    title: '50 GETs of 1 MB a second, responses compared with those of a mirror: latency, and memory',
    scene: plain,
    proxies: [sluice('sluice'), sluice('sluice-mirror-compare', { features: ['mirror-compare'] })],
    load: weighing(fixedRate('/1m', 50, 10)),
    figure: 'p99',
  },
  {
    name: 'metrics',
    title: 'metrics on the listener',
    scene: plain,
    proxies: [sluice('sluice'), sluice('sluice-metrics', { features: ['metrics'] })],
    load: wrk('/'),
  },
  {
    name: 'traces',
    title: 'traces: off, of 1 % of the requests, of none, of all',
    scene: plain,
    proxies: [
      sluice('sluice'),
      sluice('sluice-traces', { features: ['traces'] }),
      sluice('sluice-no-traces', { features: ['no-traces'] }),
      sluice('sluice-all-traces', { features: ['all-traces'] }),
    ],
    load: wrk('/'),
  },
  {
    name: 'middlewares',
    title: 'headers, cors and rateLimit; jwt with a known token',
    scene: plain,
    proxies: [
      sluice('sluice'),
      sluice('sluice-common', { features: ['common'] }),
      sluice('sluice-jwt', { features: ['jwt'] }),
      ...[nginx(), nginxLimits],
    ],
    load: wrk('/', { headers: () => [...common, `Authorization: Bearer ${token()}`] }),
  },
  {
    name: 'compress',
    title: '23 KB of JSON in gzip, level 6',
    scene: plain,
    proxies: [sluice('sluice'), sluice('sluice-gzip', { features: ['compress'] }), nginx(), nginxGzip],
    load: wrk('/records', { headers: ['Accept-Encoding: gzip'] }),
  },
  {
    name: 'access-log',
    title: 'an access log of ten fields in JSON',
    scene: plain,
    proxies: [sluice('sluice'), sluice('sluice-log', { features: ['log'] }), nginx(), nginxLog],
    load: wrk('/', { headers: common }),
  },
  {
    name: 'ext-authz',
    title: 'a service is asked whether the request may pass',
    scene: plain,
    proxies: [
      sluice('sluice'),
      sluice('sluice-authz-http', { features: ['authz-http'] }),
      sluice('sluice-authz-grpc', { features: ['authz-grpc'] }),
      ...[nginx(), nginxAuthRequest],
    ],
    load: wrk('/'),
  },
  {
    name: 'ext-proc',
    title: 'a processor sees both heads and both bodies over gRPC',
    scene: plain,
    proxies: [sluice('sluice'), sluice('sluice-proc', { features: ['proc'] })],
    load: wrk('/', { script: smallPost }),
  },
  { name: 'tcp', title: 'small GET through a tcp listener', scene: plain, proxies: tcp, load: wrk('/') },
  {
    name: 'tcp-new-connections',
    title: 'a new connection for each request, through a tcp listener',
    scene: plain,
    proxies: tcp,
    load: wrk('/', { headers: ['Connection: close'] }),
  },
  {
    name: 'tcp-download',
    title: '10 MB response through a tcp listener',
    scene: plain,
    proxies: tcp,
    load: wrk('/10m', { connections: 8, bytes: 10 << 20 }),
  },
  {
    name: 'tcp-memory',
    title: `${tunnelsMax} connections through a tcp listener`,
    scene: plain,
    proxies: tcp,
    load: idleConnections(tunnelsMax),
    figure: 'kb',
  },
  {
    name: 'idle-memory',
    title: '10,000 idle keep-alive connections',
    scene: plain,
    proxies: all,
    load: idleConnections(),
    figure: 'kb',
  },
];
