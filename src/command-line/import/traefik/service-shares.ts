// Services of Traefik as shares of destinations.
import type { Fields } from '../fields.ts';
import type { ModelFields, Share } from '../intermediate.ts';
import { ownCookie, seconds, stickyBy, urlParts } from '../shared/common.ts';
import { traefikSeconds } from './durations.ts';

interface Service {
  readonly shares: readonly Share[];
  readonly fields: ModelFields;
}

const depthMax = 8;

export class Services {
  readonly #services = new Map<string, Fields>();
  readonly #transports = new Map<string, ModelFields>();
  readonly #known = new Map<string, Service | undefined>();

  constructor(http: readonly Fields[]) {
    for (const each of http) {
      for (const key of each.child('services')?.keys ?? []) {
        const fields = each.child('services')?.child(key);
        if (fields !== undefined) this.#services.set(key, fields);
      }
      for (const key of each.child('serversTransports')?.keys ?? []) {
        const fields = each.child('serversTransports')?.child(key);
        if (fields !== undefined) this.#transports.set(key, transportOf(fields));
      }
    }
    for (const key of this.#services.keys()) this.of(key);
  }

  /** Returns undefined for a service that is not there. A name may have the mark of its provider behind it. */
  of(reference: string, depth = 0): Service | undefined {
    const name = reference.replace(/@file$/, '');
    if (this.#known.has(name)) return this.#known.get(name);
    const fields = this.#services.get(name);
    const found = fields === undefined || depth > depthMax ? undefined : this.#read(name, fields, depth);
    this.#known.set(name, found);
    return found;
  }

  #read(name: string, fields: Fields, depth: number): Service | undefined {
    const [balancer, weighted, mirroring, failover] = ['loadBalancer', 'weighted', 'mirroring', 'failover'].map((key) =>
      fields.child(key),
    );
    if (balancer !== undefined) return this.#balanced(name, balancer);
    if (weighted !== undefined) {
      const sticky = weighted.child('sticky')?.child('cookie');
      weighted.notTaken('healthCheck', 'destinations are watched by themselves', 'options.healthCheck');
      const shares = weighted.list('services').flatMap((each) => {
        const weight = each.number('weight') ?? 1;
        const { shares: own = [], fields: ofService } = this.of(each.text('name') ?? '', depth + 1) ?? {};
        const rewrite = ofService?.rewrite;
        return own.map((share) => ({
          ...share,
          weight: weight * (own.length > 1 ? (share.weight ?? 1) : 1),
          ...(rewrite !== undefined && { fields: { rewrite } }),
        }));
      });
      const fields = sticky === undefined ? {} : { destinationBalancing: stickyOf(sticky) };
      return shares.length === 0 ? undefined : { shares, fields };
    }
    if (mirroring !== undefined) {
      const main = this.of(mirroring.text('service') ?? '', depth + 1);
      mirroring.notTaken('mirrors', 'copies are not imported', 'forward.mirrors of the route');
      for (const key of ['mirrorBody', 'maxBodySize']) mirroring.approximated(key, 'bodies of copies are streamed');
      return main;
    }
    if (failover !== undefined) {
      fields.notTaken('failover', 'the service takes no fallback', 'endpoints of priority 1');
      return this.of(failover.text('service') ?? '', depth + 1);
    }
    return undefined;
  }

  #balanced(name: string, fields: Fields): Service | undefined {
    const servers = fields.list('servers').flatMap((each) => {
      const url = urlParts(each.text('url') ?? '');
      const weight = each.number('weight') ?? 1;
      if (url === undefined) each.notTaken('url', 'is no URL of http');
      else if (url.path !== '/') each.approximated('url', 'its path is left out');
      return url === undefined ? [] : [{ ...url, weight }];
    });
    const [first] = servers;
    const keepsHost = fields.text('passHostHeader') !== 'false';
    const transport = fields.text('serversTransport');
    const health = fields.child('healthCheck');
    const cookie = fields.child('sticky')?.child('cookie');
    const interval = fields.child('responseForwarding');
    if (interval !== undefined) fields.approximated('responseForwarding', 'bytes go on as they come');
    fields.approximated('strategy', 'is read as ROUND_ROBIN or LEAST_REQUEST');
    if (first === undefined) return undefined;
    const endpoints = servers.map(({ host, port, weight }) => ({ host, port, ...(weight !== 1 && { weight }) }));
    const isSecure = servers.some((each) => each.isSecure);
    const options: ModelFields = {
      timeouts: { responseHeader: '0s' },
      ...(transport === undefined ? {} : this.#transports.get(transport.replace(/@file$/, ''))),
      ...(isSecure && { tls: { mode: 'tls' } }),
      ...(servers.some(({ isH2c }) => isH2c) && { http2: true }),
      ...(health !== undefined && { healthCheck: healthOf(health) }),
      ...(fields.text('strategy') === 'p2c' && { endpointBalancing: { algorithm: 'LEAST_REQUEST' } }),
      ...(cookie !== undefined && { endpointBalancing: stickyOf(cookie) }),
    };
    if (servers.some(({ isSecure: each }) => each !== isSecure))
      fields.approximated('servers', 'all servers are asked over TLS');
    if (servers.some(({ isH2c }) => isH2c !== first.isH2c))
      fields.approximated('servers', 'all servers are asked over HTTP/2');
    return {
      shares: [
        {
          destination: {
            from: fields.statement,
            name,
            fields: { host: first.host, port: first.port, ...(endpoints.length > 1 && { endpoints }), options },
          },
        },
      ],
      fields: keepsHost ? {} : { rewrite: { autoHost: true } },
    };
  }
}

/** Traefik's own names are hashes of the service. */
function stickyOf(cookie: Fields): ModelFields {
  for (const key of ['secure', 'httpOnly', 'sameSite', 'path']) cookie.approximated(key, ownCookie);
  return stickyBy(cookie.text('name') ?? '_traefik', seconds(Math.max(0, cookie.number('maxAge') ?? 0)));
}

function healthOf(fields: Fields): ModelFields {
  for (const key of ['scheme', 'hostname', 'port', 'headers', 'followRedirects', 'method', 'mode', 'unhealthyInterval'])
    fields.approximated(key, 'probes are GET to the endpoint itself');
  const status = fields.text('status');
  return {
    path: fields.text('path') ?? '/',
    interval: seconds(traefikSeconds(fields.text('interval')) ?? 30),
    timeout: seconds(traefikSeconds(fields.text('timeout')) ?? 5),
    ...(status !== undefined && { expectedStatuses: [status] }),
  };
}

function transportOf(fields: Fields): ModelFields {
  const timeouts = fields.child('forwardingTimeouts');
  const connect = traefikSeconds(timeouts?.text('dialTimeout'));
  const header = traefikSeconds(timeouts?.text('responseHeaderTimeout'));
  const idle = traefikSeconds(timeouts?.text('idleConnTimeout'));
  for (const key of ['maxIdleConnsPerHost', 'disableHTTP2', 'peerCertURI'])
    fields.approximated(key, 'connections to upstreams are pooled by themselves');
  fields.notTaken('insecureSkipVerify', 'certificates of upstreams are always verified', 'options.tls.ca');
  for (const key of ['serverName', 'rootCAs', 'certificates'])
    fields.notTaken(key, 'is of each destination', 'options.tls');
  return {
    timeouts: {
      ...(connect !== undefined && { connect: seconds(connect) }),
      responseHeader: seconds(header ?? 0),
      ...(idle !== undefined && { idleConnection: seconds(idle) }),
    },
  };
}
