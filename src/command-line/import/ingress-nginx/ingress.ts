// One Ingress: its rules as places with backends, and what its annotations say of all of them.
import type { Fields } from '../fields.ts';
import type { ImportedDestination, ImportedMiddleware, ModelFields } from '../intermediate.ts';
import { destination, ownCookie, seconds, stickyBy } from '../shared/common.ts';
import type { Statement } from '../statement.ts';
import { Annotations } from './annotations.ts';
import type { Defaults } from './config-map.ts';
import { compression } from './ingress-compression.ts';
import { middlewaresOf, secretFile } from './ingress-middlewares.ts';

/** Numbers of ports by `namespace/service/name`. */
export type Services = ReadonlyMap<string, number>;

export interface IngressPath {
  /** Empty: any. */
  readonly host: string;
  readonly path: string;
  readonly type: string;
  readonly backend: ImportedDestination;
  readonly from: Statement;
}

interface IngressTls {
  readonly hosts: readonly string[];
  readonly secret: string;
  readonly from: Statement;
}

export class Ingress {
  readonly name: string;
  readonly namespace: string;
  readonly notes: Annotations;
  readonly paths: readonly IngressPath[];
  readonly tls: readonly IngressTls[];
  readonly middlewares: readonly ImportedMiddleware[];
  /** Options of destinations about the connections to them, and about the choice of an endpoint. */
  readonly #connection: ModelFields;
  readonly #balance: ModelFields;
  readonly #services: Services;
  readonly #defaults: Defaults;

  constructor(object: Fields, services: Services, defaults: Defaults) {
    this.#services = services;
    this.#defaults = defaults;
    const metadata = object.child('metadata');
    this.namespace = metadata?.text('namespace') ?? 'default';
    const own = metadata?.text('name') ?? 'ingress';
    this.name = this.namespace === 'default' ? own : `${this.namespace}-${own}`;
    for (const key of metadata?.keys ?? [])
      if (!['name', 'namespace', 'annotations'].includes(key)) metadata?.approximated(key, 'is of Kubernetes');
    object.approximated('status', 'is of Kubernetes');
    this.notes = new Annotations(metadata ?? object);
    this.middlewares = [
      ...compression(this.notes.metadata, (key) => this.setting(key)),
      ...middlewaresOf(this.name, this.namespace, this.notes),
    ];
    this.#connection = this.#connectionOf();
    this.#balance = this.#balancing();
    const spec = object.child('spec');
    const className = spec?.text('ingressClassName');
    if (className !== undefined && className !== 'nginx')
      spec?.approximated('ingressClassName', 'all classes are served by the same listeners');
    this.tls = (spec?.list('tls') ?? []).flatMap((each) => this.#tls(each));
    this.paths = [...(spec?.list('rules') ?? []).flatMap((each) => this.#rule(each)), ...this.#default(spec)];
  }

  /** Every request is answered with another address. */
  get redirects(): boolean {
    return ['permanent-redirect', 'temporal-redirect'].some((name) => /^[^$]+$/.test(this.notes.text(name) ?? ''));
  }

  /** Text of an annotation, else of the controller's ConfigMap. */
  setting(name: string): string | undefined {
    return this.notes.text(name) ?? this.#defaults[name];
  }

  #tls(fields: Fields): IngressTls[] {
    const hosts = fields.texts('hosts');
    const secret = fields.text('secretName');
    if (secret === undefined) return [];
    fields.approximated(
      'secretName',
      `put it into ${secretFile(this.namespace, secret, '.crt')} and .key of each node`,
    );
    return [{ hosts, secret, from: fields.statement }];
  }

  #rule(rule: Fields): IngressPath[] {
    const host = rule.text('host') ?? '';
    return (rule.child('http')?.list('paths') ?? []).flatMap((each) => {
      const path = each.text('path') ?? '/';
      const type = each.text('pathType') ?? 'ImplementationSpecific';
      const backend = this.#backend(each.child('backend'));
      return backend === undefined ? [] : [{ host, path, type, backend, from: each.statement }];
    });
  }

  #default(spec: Fields | undefined): IngressPath[] {
    const fields = spec?.child('defaultBackend');
    const backend = this.#backend(fields);
    if (fields === undefined || backend === undefined) return [];
    return [{ host: '', path: '/', type: 'Prefix', backend, from: fields.statement }];
  }

  #backend(fields: Fields | undefined): ImportedDestination | undefined {
    if (fields === undefined) return undefined;
    fields.notTaken('resource', 'only Services are backends', 'a destination');
    const service = fields.child('service');
    const name = service?.text('name');
    const port = service?.child('port');
    if (service === undefined || name === undefined) return undefined;
    const label = port?.text('name');
    const number = port?.number('number') ?? this.#services.get(`${this.namespace}/${name}/${label}`);
    if (number === undefined) {
      port?.notTaken('name', 'the number of the port is not known', 'give the file of the Service, too');
      return undefined;
    }
    const host = `${name}.${this.namespace}.svc.cluster.local`;
    return destination(service.statement, `${name}-${number}`, host, number, this.#options(this));
  }

  #options(connected: Ingress): ModelFields {
    return { ...connected.#connection, ...this.#balance };
  }

  /** Returns the backend of this canary with the connections of the Ingress that it is a part of. */
  asCanaryOf(main: Ingress, { backend }: IngressPath): ImportedDestination {
    for (const name of ofMainIngress)
      this.notes.approximated(name, 'that of the Ingress without the mark of a canary counts');
    return { ...backend, fields: { ...backend.fields, options: this.#options(main) } };
  }

  /** nginx waits a minute for an upstream, Sluice ten seconds unless it is told. */
  #connectionOf(): ModelFields {
    const time = (name: string, usual: number): string => seconds(Number(this.setting(name) ?? usual) || usual);
    const protocol = (this.notes.text('backend-protocol') ?? 'HTTP').toUpperCase();
    if (!['HTTP', 'HTTPS', 'GRPC', 'GRPCS', 'AUTO_HTTP'].includes(protocol))
      this.notes.notTaken('backend-protocol', `${protocol} is not spoken to upstreams`);
    this.notes.approximated('proxy-send-timeout', 'timeouts.clientRequest of the listener bounds the request');
    const options: ModelFields = {
      discovery: { type: 'kubernetes' },
      timeouts: { connect: time('proxy-connect-timeout', 5), responseHeader: time('proxy-read-timeout', 60) },
      ...(protocol.startsWith('GRPC') && { http2: true }),
      ...(protocol.endsWith('S') && { tls: this.#tlsOptions() }),
    };
    return options;
  }

  #tlsOptions(): ModelFields {
    const verifies = this.notes.text('proxy-ssl-verify') === 'on';
    const sni = this.notes.text('proxy-ssl-name');
    if (!verifies && this.notes.statement('backend-protocol') !== undefined)
      this.notes.approximated('backend-protocol', 'certificates of upstreams are always verified: set options.tls.ca');
    return { mode: 'tls', ...(sni !== undefined && { sni }) };
  }

  #balancing(): ModelFields {
    const { notes } = this;
    const by = notes.text('upstream-hash-by');
    const algorithm = this.setting('load-balance');
    const affinity = notes.text('affinity');
    const hashed = (hashPolicy: ModelFields[]) => ({
      endpointBalancing: { algorithm: 'RING_HASH', ringHash: { hashPolicy } },
    });
    if (affinity === 'cookie') {
      notes.approximated('affinity', ownCookie);
      const ttl = seconds(notes.number('session-cookie-max-age') ?? notes.number('session-cookie-expires') ?? 0);
      return { endpointBalancing: stickyBy(notes.text('session-cookie-name') ?? 'INGRESSCOOKIE', ttl) };
    }
    if (by === '$remote_addr' || by === '$binary_remote_addr') return hashed([{ sourceIP: { enabled: true } }]);
    const header = /^\$http_([a-z0-9_]+)$/.exec(by ?? '')?.[1];
    if (header !== undefined) return hashed([{ header: { name: header.replaceAll('_', '-') } }]);
    if (by !== undefined)
      notes.notTaken('upstream-hash-by', 'only $remote_addr and $http_… are known', 'ringHash.hashPolicy');
    if (algorithm === 'ewma') notes.approximated('load-balance', 'LEAST_REQUEST takes the place of ewma');
    return algorithm === 'ewma' ? { endpointBalancing: { algorithm: 'LEAST_REQUEST' } } : {};
  }
}

/** Annotations that a canary inherits: of its own, those of balancing count alone. */
const ofMainIngress = ['backend-protocol', 'proxy-connect-timeout', 'proxy-read-timeout', 'proxy-ssl-name'];
