// A listener: one port of the proxy (contract.md §2.2, architecture.md §9).
import { allOf, atMostOneOf, has, isTrue, noneOf } from './constraint.ts';
import { listenerDefaults } from './defaults.ts';
import { Entity } from './entity.ts';
import { ErrorPage } from './error-page.ts';
import { Duration, Flag, Host, Line, ListOf, Nested, NestedOrText, OneOf, OneOfNumbers, Port, Uint } from './field.ts';
import { ListenerHttp2 } from './listener-http2.ts';
import { sectionsMax } from './listener-limits.ts';
import { ListenerMetrics } from './listener-metrics.ts';
import { ListenerSection, repeatedSections } from './listener-section.ts';
import { ListenerTls } from './listener-tls.ts';
import { problemIf, Rules } from './rule.ts';
import { cidr, requestBodyBytesMax } from './scalar.ts';

export const listenerProtocols = ['http', 'tcp'] as const;
export const proxyProtocols = ['off', 'optional', 'required'] as const;
export const proxyErrorDetails = ['minimal', 'standard', 'full'] as const;
export const pathNormalizations = ['enforce', 'report'] as const;
export const duplicateQueryParams = ['allow', 'reject'] as const;

export class ListenerTimeouts {
  @Duration('Time to receive all request headers; then the connection is closed. 0: no limit.', {
    default: listenerDefaults.timeouts.clientHeader,
  })
  readonly clientHeader?: string;

  @Duration('Time to receive headers and body; then the connection is closed. 0: no limit.', {
    default: listenerDefaults.timeouts.clientRequest,
  })
  readonly clientRequest?: string;

  @Duration('Time from the first response byte to the last; then the connection is closed. 0: no limit.', {
    default: listenerDefaults.timeouts.clientResponse,
  })
  readonly clientResponse?: string;

  @Duration('How long a connection may stay idle between requests. 0: no limit.', {
    default: listenerDefaults.timeouts.idleBetweenRequests,
  })
  readonly idleBetweenRequests?: string;

  @Duration('How long a tunnel (a WebSocket) may carry nothing in either direction. 0: no limit.', {
    default: listenerDefaults.timeouts.idleTunnel,
  })
  readonly idleTunnel?: string;
}

export class ListenerProxyErrors {
  @OneOf(proxyErrorDetails, 'How much the bodies of proxy errors say.', {
    default: listenerDefaults.proxyErrors.detail,
  })
  readonly detail?: (typeof proxyErrorDetails)[number];
}

export const redirectToHttpsCodes = [301, 302, 307, 308] as const;

export class RedirectToHttps {
  @Port('Port of the Location. Absent, and 443: none.')
  readonly port?: number;

  @OneOfNumbers(redirectToHttpsCodes, 'Status of the response.', { default: listenerDefaults.redirectToHttps.code })
  readonly code?: (typeof redirectToHttpsCodes)[number];
}

@Rules<Listener>(
  {
    passthroughNeedsTcp: ({ protocol, tls }) =>
      problemIf(protocol !== 'tcp' && tls?.mode === 'passthrough', '/tls/mode', 'needs protocol tcp'),
    tcpIsNoHttp: ({ protocol, http2 }) =>
      problemIf(protocol === 'tcp' && http2 === true, '/http2', 'must not stand beside protocol tcp'),
    redirectsFromHttp: ({ protocol, tls, redirectToHttps }) => [
      ...problemIf(tls !== undefined && redirectToHttps !== undefined, '/redirectToHttps', 'must not stand beside tls'),
      ...problemIf(
        protocol === 'tcp' && redirectToHttps !== undefined,
        '/redirectToHttps',
        'must not stand beside protocol tcp',
      ),
    ],
    sectionsDiffer: ({ sections = [] }) => repeatedSections(sections),
  },
  noneOf(allOf(has('protocol', 'tcp'), isTrue('http2')), allOf(has('protocol', 'tcp'), has('redirectToHttps'))),
  atMostOneOf(has('tls'), has('redirectToHttps')),
)
export class Listener extends Entity {
  static readonly summary = 'Addresses and ports on which requests arrive.';

  static readonly example = { id: 'web', name: 'web', address: '127.0.0.1', port: 8081 };

  @Host('Address to bind, an IP or a host name.', { default: listenerDefaults.address, emitted: true })
  readonly address?: string;

  @Port('TCP port to bind.', { required: true, example: 8443 })
  readonly port!: number;

  @OneOf(
    listenerProtocols,
    '`http`: requests, served by routes. `tcp`: connections, served by stream routes; fields about HTTP have no effect.',
    { default: listenerDefaults.protocol },
  )
  readonly protocol?: (typeof listenerProtocols)[number];

  @Nested(ListenerTls, 'Present: this is a TLS listener.')
  readonly tls?: ListenerTls;

  @ListOf(
    ListenerSection,
    'Parts of the listener by host, to which routes are bound. A request belongs to the one with the most specific host, and to none else. Empty: one of all hosts, without a name.',
    { default: listenerDefaults.sections, lengthMax: sectionsMax },
  )
  readonly sections?: readonly ListenerSection[];

  @Nested(RedirectToHttps, 'Without TLS: answer every request with its location under https, before routing.')
  readonly redirectToHttps?: RedirectToHttps;

  @Flag('With TLS: offer h2 by ALPN. Without: accept HTTP/2 with prior knowledge beside HTTP/1.1.', {
    default: listenerDefaults.http2,
  })
  readonly http2?: boolean;

  @Nested(ListenerHttp2, 'Limits on HTTP/2 connections. Without `http2` they have no effect.', { absentIsEmpty: true })
  readonly http2Options?: ListenerHttp2;

  @Line('Value of the `Server` header of every response. Absent: none is added.')
  readonly serverName?: string;

  @Uint('Most connections at a time, those of HTTP/2 too; one beyond is closed at once. 0: no limit of its own.', {
    default: listenerDefaults.maxConnections,
  })
  readonly maxConnections?: number;

  @Uint('Limit on the sum of header names and values, in KiB; above it 431. 0: only the hard cap.', {
    default: listenerDefaults.maxRequestHeadersKB,
  })
  readonly maxRequestHeadersKB?: number;

  @Uint('Most header field lines of a request; above it 431.', {
    min: 1,
    max: 1000,
    default: listenerDefaults.maxRequestHeaders,
  })
  readonly maxRequestHeaders?: number;

  @Uint('Most bytes of a request body; above it 413. 0: no limit. A route may have another.', {
    max: requestBodyBytesMax,
    default: listenerDefaults.maxRequestBodyBytes,
  })
  readonly maxRequestBodyBytes?: number;

  @Nested(ListenerTimeouts, 'Limits on slow and idle clients.', { absentIsEmpty: true })
  readonly timeouts?: ListenerTimeouts;

  @Nested(ListenerMetrics, 'Present: metrics are served on this listener; `{}` takes all defaults.')
  readonly metrics?: ListenerMetrics;

  @NestedOrText(
    ListenerProxyErrors,
    { texts: proxyErrorDetails, expand: (detail) => ({ detail }) },
    'How proxy errors are shown; a text stands for `{"detail": text}`.',
    { default: listenerDefaults.proxyErrors.detail },
  )
  readonly proxyErrors?: ListenerProxyErrors;

  @ListOf(ErrorPage, 'Bodies of errors by status, after those of the route; the first that names the status counts.', {
    default: listenerDefaults.errorPages,
    lengthMax: 100,
  })
  readonly errorPages?: readonly ErrorPage[];

  @ListOf(cidr, 'Peers whose X-Forwarded-* headers are believed. Empty: none, the client is the peer that connects.', {
    default: listenerDefaults.trustedProxies,
    example: ['10.0.0.0/8'],
  })
  readonly trustedProxies?: readonly string[];

  @OneOf(
    proxyProtocols,
    'Head of the PROXY protocol, version 1 or 2, that connections of `trustedProxies` begin with. `required`: every connection has one, or is closed. `optional`: those of trusted proxies may have one. Its source takes the place of the address of the socket.',
    { default: listenerDefaults.proxyProtocol },
  )
  readonly proxyProtocol?: (typeof proxyProtocols)[number];

  @OneOf(
    pathNormalizations,
    '`enforce` uses one canonical path everywhere; `report` uses the path as sent and counts what would change.',
    { default: listenerDefaults.pathNormalization },
  )
  readonly pathNormalization?: (typeof pathNormalizations)[number];

  @OneOf(
    duplicateQueryParams,
    '`reject` answers 400 to requests with a query parameter of one name twice, which two readers may read differently.',
    { default: listenerDefaults.duplicateQueryParams },
  )
  readonly duplicateQueryParams?: (typeof duplicateQueryParams)[number];

  @Flag('Name the matched route in `x-sluice-route` of responses.', { default: listenerDefaults.debugHeaders })
  readonly debugHeaders?: boolean;
}
