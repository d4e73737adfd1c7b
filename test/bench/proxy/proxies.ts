// The proxies of a benchmark, each set up to do the same: Sluice with this or that switched on, and what is installed of
// the others.
import { cores, freePort, type Machine } from './machine.ts';
import { type Behind, nginxFile } from './services.ts';
import type { Feature, SluiceWish } from './sluice.ts';

/** Setup of the proxies of a case. */
export interface Scene {
  readonly routes: number;
  readonly tls: boolean;
  /** Clients speak HTTP/2. */
  readonly http2: boolean;
  /** HTTP/2 towards the upstream too, which is the one that answers calls. */
  readonly grpc: boolean;
}

export interface Running {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

export interface Contestant {
  readonly name: string;
  /** Command that has to be installed. */
  readonly command?: string;
  start(place: Place): Promise<Running>;
}

export interface Place {
  readonly machine: Machine;
  readonly behind: Behind;
  readonly scene: Scene;
  /** Files of the certificate that clients are shown. */
  readonly certificate: { readonly cert: string; readonly key: string };
}

export interface SluiceOptions {
  readonly features?: readonly Feature[];
  readonly workers?: number;
  /** Root of another checkout, to be held against this one. */
  readonly tree?: string;
  /** Options of the Node that it runs on. */
  readonly nodeOptions?: readonly string[];
}

const here = new URL('../../..', import.meta.url).pathname;

export function sluice(
  name: string,
  { features = [], workers = 1, tree = here, nodeOptions = [] }: SluiceOptions = {},
): Contestant {
  return {
    name,
    async start({ machine, behind, scene, certificate }) {
      const port = await freePort();
      const { readFileSync } = await import('node:fs');
      const tls = scene.tls
        ? { cert: readFileSync(certificate.cert, 'utf8'), key: readFileSync(certificate.key, 'utf8') }
        : undefined;
      const overGrpc = features.includes('authz-grpc') || features.includes('proc');
      const wish: SluiceWish = {
        ...{ port, routes: scene.routes, workers, tree, http2: scene.http2, upstreamHttp2: scene.grpc, tls, features },
        upstreamPort: scene.grpc ? behind.grpc : behind.upstream,
        servicePort: overGrpc ? behind.grpcService : behind.service,
        deafPort: behind.deaf,
        folder: machine.folder,
      };
      const file = machine.file(`${name}.json`, JSON.stringify(wish));
      const program = new URL('sluice.ts', import.meta.url).pathname;
      const options = process.env.NODE_ARGS?.split(' ') ?? [];
      const pid = machine.start(cores.proxy, name, process.execPath, [...options, ...nodeOptions, program, file]);
      await machine.listening(port, pid, name);
      return { name, port, pid };
    },
  };
}

/** `http` and `location` are lines of nginx's own beside forwarding. */
export function nginx(
  name = 'nginx',
  extra: (place: Place) => {
    readonly http?: string;
    readonly location?: string;
    readonly server?: string;
  } = () => ({}),
): Contestant {
  return {
    name,
    command: 'nginx',
    async start(place) {
      const { machine, behind, scene, certificate } = place;
      const port = await freePort();
      const more = extra(place);
      const upstreamPort = scene.grpc ? behind.grpc : behind.upstream;
      const http = `upstream u { server 127.0.0.1:${upstreamPort}; keepalive 256; keepalive_requests 1000000000; } ${more.http ?? ''}`;
      const forward = scene.grpc
        ? 'grpc_pass grpc://u;'
        : `proxy_pass http://u; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme;
proxy_set_header X-Forwarded-Host $host; proxy_request_buffering off;`;
      const tls = scene.tls
        ? `ssl_certificate ${certificate.cert}; ssl_certificate_key ${certificate.key}; ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:s:10m;`
        : '';
      const listen = `listen 127.0.0.1:${port}${scene.tls ? ' ssl' : ''}${scene.http2 ? ' http2' : ''} backlog=4096;`;
      const server = `server { ${listen} ${tls} ${more.server ?? ''} location / { ${forward} ${more.location ?? ''} } }`;
      const pid = machine.start(cores.proxy, name, 'nginx', ['-c', nginxFile(machine, name, server, http)]);
      await machine.listening(port, pid, name);
      return { name, port, pid };
    },
  };
}

export const nginxLimits = nginx('nginx-limits', () => ({
  http: 'limit_req_zone $binary_remote_addr zone=z:10m rate=1000000r/s;',
  location: `limit_req zone=z burst=1000000 nodelay; proxy_set_header X-Tenant $host; add_header X-Frame-Options DENY;`,
}));

export const nginxLog = nginx('nginx-log', ({ machine }) => ({
  http: `log_format j escape=json '{"id":"$request_id","method":"$request_method","path":"$uri","host":"$host","client":"$remote_addr","agent":"$http_user_agent","status":"$status","bytes":"$body_bytes_sent","us":"$request_time","route":"rest"}';`,
  location: `access_log ${machine.folder}/nginx-access.log j buffer=64k flush=1s;`,
}));

export const nginxAuthRequest = nginx('nginx-auth_request', ({ behind }) => ({
  http: `upstream a { server 127.0.0.1:${behind.service}; keepalive 256; keepalive_requests 1000000000; }`,
  server: `location = /auth { internal; proxy_pass http://a/; proxy_http_version 1.1; proxy_set_header Connection "";
proxy_pass_request_body off; proxy_set_header Content-Length ""; }`,
  location: 'auth_request /auth;',
}));

export const nginxGzip = nginx('nginx-gzip', () => ({
  location: 'gzip on; gzip_comp_level 6; gzip_min_length 1024; gzip_types application/json; gzip_proxied any;',
}));

export const haproxy: Contestant = {
  name: 'haproxy',
  command: 'haproxy',
  async start({ machine, behind, scene, certificate }) {
    const port = await freePort();
    const { readFileSync } = await import('node:fs');
    const pem = machine.file(
      'haproxy.pem',
      readFileSync(certificate.cert, 'utf8') + readFileSync(certificate.key, 'utf8'),
    );
    const tls = scene.tls ? ` ssl crt ${pem}${scene.http2 ? ' alpn h2,http/1.1' : ''}` : scene.http2 ? ' proto h2' : '';
    const upstream = scene.grpc ? `127.0.0.1:${behind.grpc} proto h2` : `127.0.0.1:${behind.upstream}`;
    const file = machine.file(
      'haproxy.cfg',
      `global\n  nbthread 1\n  maxconn 9000\n  tune.h2.max-concurrent-streams 1000\ndefaults\n  mode http
  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n  option forwardfor\n  http-reuse always
frontend f\n  bind 127.0.0.1:${port}${tls}\n  default_backend b\nbackend b\n  server s ${upstream}\n`,
    );
    const pid = machine.start(cores.proxy, 'haproxy', 'haproxy', ['-f', file, '-db']);
    await machine.listening(port, pid, 'haproxy');
    return { name: 'haproxy', port, pid };
  },
};

export const haproxyTcp: Contestant = {
  name: 'haproxy-tcp',
  command: 'haproxy',
  async start({ machine, behind }) {
    const port = await freePort();
    const file = machine.file(
      'haproxy-tcp.cfg',
      `global\n  nbthread 1\n  maxconn 9990\ndefaults\n  mode tcp
  timeout connect 5s\n  timeout client 1h\n  timeout server 1h
frontend f\n  bind 127.0.0.1:${port}\n  default_backend b\nbackend b\n  server s 127.0.0.1:${behind.upstream}\n`,
    );
    const pid = machine.start(cores.proxy, 'haproxy-tcp', 'haproxy', ['-f', file, '-db']);
    await machine.listening(port, pid, 'haproxy-tcp');
    return { name: 'haproxy-tcp', port, pid };
  },
};

export const caddy: Contestant = {
  name: 'caddy',
  command: 'caddy',
  async start({ machine, behind, scene, certificate }) {
    const port = await freePort();
    const tls = scene.tls ? `tls ${certificate.cert} ${certificate.key}\n` : '';
    const upstream = scene.grpc ? `h2c://127.0.0.1:${behind.grpc}` : `127.0.0.1:${behind.upstream}`;
    const protocols = scene.http2 ? (scene.tls ? 'h1 h2' : 'h1 h2c') : 'h1';
    const file = machine.file(
      'Caddyfile',
      `{\n admin off\n auto_https off\n servers {\n  protocols ${protocols}\n }\n log {\n  level ERROR\n }\n}
${scene.tls ? 'https' : 'http'}://127.0.0.1:${port} {\n ${tls} reverse_proxy ${upstream}\n}\n`,
    );
    const pid = machine.start(cores.proxy, 'caddy', 'caddy', ['run', '--config', file, '--adapter', 'caddyfile']);
    await machine.listening(port, pid, 'caddy');
    return { name: 'caddy', port, pid };
  },
};

export const isSluice = (name: string): boolean => name.startsWith('sluice');
