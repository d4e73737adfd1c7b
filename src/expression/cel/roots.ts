// Roots, the places where closures read the input of an expression: by whole path, so that `request.headers["x-user"]`
// is one call and no map of headers is ever built for it.

import type { ConsumerFacts, ListenerFacts, RequestTls, RequestView } from './value-view.ts';
import { noSuchKey, type Value } from './values.ts';

export interface Roots<Input> {
  /** `request.method` → its reader. Undefined means absent; what lies under something absent fails, has() of it too. */
  readonly reads: ReadonlyMap<string, (input: Input) => Value>;
  /** Maps that are asked by key without being built: `request.headers`. */
  readonly keyed: ReadonlyMap<string, (input: Input, key: string) => Value>;
}

/** Input of jwt expressions (contract.md §6.6). */
export interface ClaimsInput {
  /** Decoded payload of the token; its numbers are doubles. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Unix seconds. */
  readonly now: number;
}

export const requestRoots: Roots<RequestView> = {
  reads: new Map<string, (view: RequestView) => Value>([
    ['request', (view) => view],
    ['request.id', (view) => view.facts.id],
    ['request.method', (view) => view.facts.method],
    ['request.path', (view) => view.facts.path],
    ['request.host', (view) => view.facts.host],
    ['request.scheme', (view) => view.facts.scheme],
    ['request.clientIp', (view) => view.facts.clientIp],
    ['request.headers', (view) => view.headers],
    ['request.headerValues', (view) => view.headerValues],
    ['request.queryParams', (view) => view.queryParams],
    ['request.queryValues', (view) => view.queryValues],
    ['request.body', (view) => view.body],
    ['request.body.raw', ofBody('raw')],
    ['request.body.json', ofBody('json')],
    ['request.listener', (view) => view.facts.listener],
    ['request.listener.id', ofListener('id')],
    ['request.listener.name', ofListener('name')],
    ['request.listener.port', ofListener('port')],
    ['request.listener.section', ofListener('section')],
    ['consumer', (view) => view.facts.consumer],
    ['consumer.id', ofConsumer('id')],
    ['consumer.name', ofConsumer('name')],
    ['consumer.labels', ofConsumer('labels')],
    ['request.tls', (view) => view.facts.tls],
    ['request.tls.peerCertificate', ({ facts: { tls } }) => (tls === undefined ? noSuchKey : tls.peerCertificate)],
    ['request.tls.peerCertificate.uris', ofCertificate('uris')],
    ['request.tls.peerCertificate.dnsNames', ofCertificate('dnsNames')],
    ['request.tls.peerCertificate.subject', ofCertificate('subject')],
    ['request.tls.peerCertificate.serial', ofCertificate('serial')],
  ]),
  keyed: new Map([
    ['request.headers', (view: RequestView, name: string): Value => view.header(name)],
    ['request.headerValues', (view: RequestView, name: string): Value => view.headerValuesOf(name)],
    ['request.queryParams', (view: RequestView, name: string): Value => view.queryParam(name)],
    ['request.queryValues', (view: RequestView, name: string): Value => view.queryValuesOf(name)],
  ]),
};

/** Roots of an expression over a response, and the request that it answers. */
export const responseRoots: Roots<RequestView> = {
  reads: new Map<string, (view: RequestView) => Value>([
    ...requestRoots.reads,
    ['response', (view) => ({ status: BigInt(view.responseStatus) })],
    ['response.status', (view) => BigInt(view.responseStatus)],
  ]),
  keyed: requestRoots.keyed,
};

function ofBody(field: 'raw' | 'json'): (view: RequestView) => Value {
  return ({ body }) => (body === undefined ? noSuchKey : body[field]);
}

function ofListener(field: keyof ListenerFacts): (view: RequestView) => Value {
  return ({ facts: { listener } }) => (listener === undefined ? noSuchKey : listener[field]);
}

function ofConsumer(field: keyof ConsumerFacts): (view: RequestView) => Value {
  return ({ facts: { consumer } }) => consumer?.[field];
}

function ofCertificate(field: keyof RequestTls['peerCertificate']): (view: RequestView) => Value {
  return ({ facts: { tls } }) => (tls === undefined ? noSuchKey : tls.peerCertificate[field]);
}

export const claimsRoots: Roots<ClaimsInput> = {
  reads: new Map<string, (input: ClaimsInput) => Value>([
    ['claims', (input) => input.claims],
    ['now', (input) => BigInt(Math.floor(input.now))],
  ]),
  keyed: new Map(),
};

/** One side of a rollout, over all proxies since the step began. */
export interface VariantFigures {
  readonly requests: number;
  readonly serverErrors: number;
  readonly clientErrors: number;
  readonly proxyErrors: number;
  /** Server and proxy errors of all requests; 0 without requests. */
  readonly errorRate: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly meanMs: number;
}

/** Comparisons of the responses of mirrors, over all proxies since the step began. */
export interface MirrorFigures {
  readonly compared: number;
  /** Those that differ, of all that were compared; 0 without any. */
  readonly mismatchShare: number;
}

/** Requests that stable served and that were matched against the candidate too, since the step began. */
interface ShadowFigures {
  readonly requests: number;
  readonly same: number;
  readonly moved: number;
  readonly lost: number;
  readonly gained: number;
  readonly answersChanged: number;
  readonly rejectedMore: number;
  readonly rejectedLess: number;
  readonly undecided: number;
}

/** Input of the guards of a rollout (fleet.md §7). */
export interface GuardInput {
  readonly candidate: VariantFigures;
  readonly stable: VariantFigures;
  readonly proxies: { readonly total: number; readonly installed: number; readonly refused: number };
  readonly mirror: MirrorFigures;
  readonly shadow: ShadowFigures;
  readonly step: number;
  /** Percent. */
  readonly share: number;
  /** Seconds since the step began. */
  readonly elapsed: number;
}

const guardNames = ['candidate', 'stable', 'proxies', 'mirror', 'shadow', 'step', 'share', 'elapsed'] as const;

export const guardRoots: Roots<GuardInput> = {
  reads: new Map(guardNames.map((name) => [name, (input: GuardInput): Value => input[name]])),
  keyed: new Map(),
};

/** Input of expressions over recent requests. */
export interface RecentInput {
  readonly time: string;
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly params: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: string;
  readonly status: number;
  readonly listener: string;
  readonly listenerId: string;
  readonly section: string;
  readonly route: string;
  readonly routeId: string;
  readonly group: string;
  readonly destination: string;
  readonly endpoint: string;
  readonly attempts: number;
  readonly durationMs: number;
  readonly proxyMs?: number | undefined;
  readonly connectMs?: number | undefined;
  readonly firstByteMs?: number | undefined;
  readonly transferMs?: number | undefined;
  readonly snapshotIndex: number;
  readonly role: string;
  readonly error: string;
}

const recentNames = [
  ...['time', 'method', 'scheme', 'host', 'path', 'params', 'query', 'headers', 'protocol', 'route', 'routeId'],
  ...['group', 'destination', 'endpoint', 'durationMs', 'role', 'error', 'listener', 'listenerId', 'section'],
  ...['proxyMs', 'connectMs', 'firstByteMs', 'transferMs'],
] as readonly (keyof RecentInput)[];

/** The names of the list, and of what matchers see those that it has, so that an expression of a route can be tried. */
export const recentRoots: Roots<RecentInput> = {
  reads: new Map<string, (input: RecentInput) => Value>([
    ['request', (input) => input],
    ...recentNames.map((name) => [name, (input: RecentInput): Value => input[name]] as const),
    ...(['status', 'attempts', 'snapshotIndex'] as const).map(
      (name) => [name, (input: RecentInput): Value => BigInt(input[name])] as const,
    ),
    ...(['method', 'scheme', 'host', 'path', 'headers'] as const).map(
      (name) => [`request.${name}`, (input: RecentInput): Value => input[name]] as const,
    ),
  ]),
  keyed: new Map(),
};
