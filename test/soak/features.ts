// Configuration of a soak of all features: every middleware, services over HTTP and over gRPC, a mirror, retries, a breaker,
// outlier detection and health checks.
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import type { ApiClient } from '../support/api-client.ts';
import { GrpcService } from '../support/grpc-service.ts';
import { listening } from '../support/proxy-bed.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../support/tokens.ts';

export interface Features {
  /** Fields of the listener, of destinations' `options` and of routes, beside those that they have. */
  readonly listener: object;
  readonly options: object;
  readonly route: object;
  readonly forward: object;
}

export const noFeatures: Features = { listener: {}, options: {}, route: {}, forward: {} };

const hours = 24;

const ok: RequestListener = (request, response) => {
  request.resume();
  response.end('ok');
};

/** Makes the middlewares and what they need; the access log goes to `folder`. */
export async function allFeatures(api: ApiClient, folder: string): Promise<Features> {
  const [mirror, authz] = await Promise.all([listening(createServer(ok)), listening(createServer(ok))]);
  const proc = await processor().start();
  for (const [name, port] of Object.entries({ mirror, authz, proc }))
    await api.create('destinations', { id: name, name, host: '127.0.0.1', port });
  const by = signerOf('ES256');
  const token = tokenOf(by, { iss: 'https://soak.test/', exp: inAnHour() + hours * 3_600, sub: 'ann' }, {});
  const middlewares = {
    accessLog: {
      ...{ path: join(folder, 'access.log'), json: true },
      onResponse: { fields: { status: '${response.status}', id: '${id}', ms: '${duration}' } },
    },
    cors: { allowOrigins: [{ value: '*' }] },
    headers: {
      requestHeadersToAdd: [
        { key: 'authorization', value: `Bearer ${token}` },
        { key: 'x-path', value: '${request.path}' },
      ],
      responseHeadersToAdd: [{ key: 'x-id', value: '${id}' }],
    },
    rateLimit: { requestsPerSecond: 1_000_000 },
    inlineAuthz: { rules: [{ cel: "request.path.startsWith('/')", action: 'allow' }] },
    jwt: {
      ...{ issuer: 'https://soak.test/', jwksInline: jwksOf(by.jwk) },
      claimToHeaders: [{ expr: 'claims.sub', header: 'x-sub' }],
    },
    extAuthz: { destinationId: 'authz', decisionTimeout: '10s' },
    extProc: { destinationId: 'proc', mode: 'grpc', phaseTimeout: '10s', phases: {} },
  };
  for (const [type, block] of Object.entries(middlewares))
    await api.create('middlewares', { id: type, name: type, type, [type]: block });
  return {
    listener: { metrics: {} },
    options: {
      circuitBreaker: { maxRequests: 10_000, failureThreshold: 100 },
      outlierDetection: { consecutive5xx: 100 },
      healthCheck: { path: '/', interval: '1s' },
      endpointBalancing: { algorithm: 'LEAST_REQUEST' },
    },
    route: { middlewareIds: Object.keys(middlewares) },
    forward: {
      timeouts: { request: '30s' },
      retry: { attempts: 2, perAttemptTimeout: '10s' },
      mirror: { destinationId: 'mirror', percentage: 10 },
    },
  };
}

/** Answer with the same phase and one more header. */
const processor = (): GrpcService =>
  new GrpcService().stream('extproc.proto', 'extproc.v1.Processor', 'Process', (message, stream) => {
    const phase = Object.keys(message).find((key) => key !== 'observe_only') ?? '';
    stream.write({ [phase]: { set_headers: [{ key: 'x-seen', value: phase }] } });
  });
