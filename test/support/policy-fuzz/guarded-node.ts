// Node of the policy fuzzer: a listener for both versions of HTTP, a route for each middleware and one for all of them.
import { join } from 'node:path';
import { type ApiClient, apiClient } from '../api-client.ts';
import { freePort } from '../free-port.ts';
import { type SluiceProcess, startSluice } from '../sluice-process.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../tokens.ts';
import { FuzzServices, type ServicePorts } from './services.ts';

const signer = signerOf('ES256');
const stranger = signerOf('ES256');

/** Tokens that requests carry. */
export const tokens = {
  ann: tokenOf(signer, { iss: 'i', sub: 'ann', exp: inAnHour() }),
  /** Correct in all but time, issuer and key. */
  expired: tokenOf(signer, { iss: 'i', sub: 'old', exp: 1 }),
  foreign: tokenOf(signer, { iss: 'other', sub: 'other', exp: inAnHour() }),
  forged: tokenOf(stranger, { iss: 'i', sub: 'root', exp: inAnHour() }),
};

/** Tokens in a second that `/limit` lets through, and at once. */
export const limit = { requestsPerSecond: 1, burst: 5 };

export const origin = 'https://shop.test';

export interface GuardedNode {
  readonly sluice: SluiceProcess;
  readonly services: FuzzServices;
  readonly port: number;
  /** Access logs, in JSON and in lines. */
  readonly logs: { readonly json: string; readonly text: string };
  stop(): Promise<void>;
}

export async function startGuardedNode(): Promise<GuardedNode> {
  const services = new FuzzServices({ tokens: new Map([[tokens.ann, 'ann']]) });
  const sluice = await startSluice({ more: 'proxy: { workers: 2 }' });
  const logs = { json: join(sluice.storePath, 'logs', 'json.log'), text: join(sluice.storePath, 'logs', 'text.log') };
  const stop = async () => {
    await sluice.stop();
    services.stop();
  };
  try {
    const port = await freePort();
    await configure(apiClient(sluice.url), port, await services.start(), logs);
    return { sluice, services, port, logs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const fields = { path: '${request.path}', agent: '${request.header.User-Agent}', status: '${response.status}' };

async function configure(api: ApiClient, port: number, at: ServicePorts, logs: GuardedNode['logs']): Promise<void> {
  await api.create('listeners', { name: 'web', address: '127.0.0.1', port, http2: true });
  for (const [id, port] of Object.entries(at))
    await api.create('destinations', { id, name: id, host: '127.0.0.1', port });
  const check = { decisionTimeout: '30s', onAllow: { copyToUpstream: ['x-authz'] } };
  const middlewares = {
    json: { type: 'accessLog', accessLog: { path: logs.json, json: true, onResponse: { fields } } },
    text: { type: 'accessLog', accessLog: { path: logs.text, onResponse: { fields } } },
    cors: { type: 'cors', cors: { allowOrigins: [{ value: origin }], allowMethods: ['GET'] } },
    headers: {
      type: 'headers',
      headers: { requestHeadersToAdd: [{ key: 'X-Edge', value: 'v1' }], requestHeadersToRemove: ['X-Internal'] },
    },
    limit: { type: 'rateLimit', rateLimit: limit },
    jwt: {
      type: 'jwt',
      jwt: {
        ...{ issuer: 'i', jwksInline: jwksOf(signer.jwk), forwardJwt: true },
        claimToHeaders: [{ expr: 'claims.sub', header: 'X-User' }],
      },
    },
    rules: {
      type: 'inlineAuthz',
      inlineAuthz: {
        rules: [
          ...['request.method == "DELETE"', 'request.path.contains("secret")'],
          '"user-agent" in request.headers && request.headers["user-agent"].matches("evil")',
          '"q" in request.queryValues && request.queryValues["q"].exists(v, v == "bad")',
        ]
          .map((cel) => ({ cel, action: 'deny' }))
          .concat({ cel: 'request.headers["x-tenant"] == "public"', action: 'allow' }),
      },
    },
    body: {
      type: 'inlineAuthz',
      inlineAuthz: { rules: [{ cel: '!request.body.raw.contains("forbidden")', action: 'allow' }] },
    },
    authz: {
      type: 'extAuthz',
      extAuthz: {
        ...{ ...check, destinationId: 'authorizer' },
        onCheck: { forwardHeaders: ['x-pass'], injectHeaders: [{ key: 'x-path', value: '${request.path}' }] },
      },
    },
    grpc: {
      type: 'extAuthz',
      extAuthz: { ...check, destinationId: 'grpcAuthorizer', mode: 'grpc', onCheck: { forwardHeaders: ['x-pass'] } },
    },
    proc: {
      type: 'extProc',
      extProc: {
        ...{ destinationId: 'processor', mode: 'http', phaseTimeout: '30s' },
        phases: { requestBody: 'buffered', responseBody: 'streamed' },
      },
    },
    private: { type: 'inlineAuthz', inlineAuthz: { rules: [{ cel: 'true', action: 'deny' }] } },
  };
  for (const [id, block] of Object.entries(middlewares)) await api.create('middlewares', { id, name: id, ...block });
  const forward = { destinations: [{ destinationId: 'upstream' }] };
  const areas: Readonly<Record<string, readonly string[]>> = {
    ...Object.fromEntries(
      ['limit', 'jwt', 'rules', 'body', 'authz', 'grpc', 'proc', 'private'].map((area) => [area, [area]]),
    ),
    open: [],
    all: ['jwt', 'rules', 'authz', 'body', 'proc'],
  };
  for (const [area, own] of Object.entries(areas)) {
    const middlewareIds = ['json', 'text', 'cors', 'headers', ...own];
    await api.create('routes', { name: area, match: { pathPrefix: `/${area}` }, forward, middlewareIds });
  }
  await api.activateAs('guarded');
}
