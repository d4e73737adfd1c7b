// Authorization of every request before its operation: page guard → credentials → path and method → role
// (architecture.md §8). Installed as Fastify's first hook, so no body has been read yet.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { largeBodyMax, peerBodyMax, relayBodyMax } from '../cluster/relay/relay-wire.ts';
import { SluiceError } from '../errors.ts';
import { batchLimits, largeBatchLimits } from '../model/batch-limits.ts';
import { anonymousAdmin, holds } from '../resources/caller.ts';
import type { Clock } from '../util/clock.ts';
import type { Admitted, ApiKeys } from './api-keys.ts';
import { apiBase } from './api-paths.ts';
import { type BodyHolder, BodyQuota } from './body-quota.ts';
import { guardAgainstPages } from './browser-guard.ts';
import { docsFiles, docsPaths, docsPattern } from './docs.controller.ts';
import { OperationPaths } from './operation-paths.ts';
import type { PeerRoutes } from './peer-routes.ts';
import { hostProblem } from './request-host.ts';
import { RevokedAnswers } from './revoked-answers.ts';

interface AuthorizerOptions {
  readonly keys: ApiKeys;
  readonly allowedHosts: readonly string[];
  readonly relay: PeerRoutes;
  readonly clock: Clock;
}

/** Health paths, which reveal nothing but ok or not ok: at the root they need no key (architecture.md §6.21), elsewhere no role. */
const openHealth = ['/healthz', '/readyz'];
const health = new Set(openHealth.flatMap((path) => [path, `${apiBase}${path}`]));
/** Paths that need no key to be read, as they are spelled here. Documentation and index are the same on every node. */
const open: ReadonlySet<string> = new Set([...openHealth, ...docsPaths, apiBase, '/', '/ui']);
const relayPath = '/sync/raft';
const largePath = `${relayPath}/large`;
/** Paths between nodes, which have a credential of their own; an API key opens none of them. */
const relayPaths = new Set(
  [relayPath, largePath, '/sync/state-hash', '/sync/fleet'].flatMap((path) => [path, `${apiBase}${path}`]),
);

const batchPath = '/api/v1/batch';
const largeBatchPath = `${batchPath}/large`;

/** Six of the largest bodies. Members send the digest and are not counted. */
const unprovenBytesMax = 256 * 1024 * 1024;

export class Authorizer {
  readonly #keys: ApiKeys;
  readonly #allowedHosts: readonly string[];
  readonly #relay: PeerRoutes;
  readonly #paths = new OperationPaths();
  readonly #unproven: BodyQuota;
  readonly #largeBatches: BodyQuota;

  /** Answers under way for keys of the cluster. */
  readonly answers: RevokedAnswers;

  constructor({ keys, allowedHosts, relay, clock }: AuthorizerOptions) {
    const quota = (bytesMax: number, error: string) => new BodyQuota({ bytesMax, error, clock });
    this.#unproven = quota(unprovenBytesMax, 'too many bodies of members at once');
    this.#largeBatches = quota(largeBatchLimits.bytes, 'too many large batches at once');
    this.#keys = keys;
    this.answers = new RevokedAnswers((keyId) => keys.counts(keyId));
    this.#allowedHosts = allowedHosts;
    this.#relay = relay;
  }

  /** Installs the hooks. Must be called before the operations are registered: their paths are collected as they come. */
  install(fastify: FastifyInstance): void {
    fastify.decorateRequest('caller');
    fastify.addHook('onRoute', (operation) => {
      const rests = operation.url === docsPattern ? docsFiles : undefined;
      this.#paths.add(operation.url, [operation.method].flat(), rests);
      if (relayPaths.has(operation.url)) operation.bodyLimit = peerBodyMax;
      if (operation.url.endsWith(relayPath)) operation.bodyLimit = relayBodyMax;
      if (operation.url.endsWith(largePath)) operation.bodyLimit = largeBodyMax;
      if (operation.url === batchPath) operation.bodyLimit = batchLimits.bytes;
      if (operation.url === largeBatchPath) operation.bodyLimit = largeBatchLimits.bytes;
    });
    fastify.addHook('onRequest', (request, reply, done) => {
      try {
        this.#admit(request, reply);
        // Held until the answer is out: the batch is worked on as long.
        if (request.routeOptions.url === largeBatchPath)
          this.#largeBatches.hold({
            ...holderOf(request, reply),
            limit: largeBatchLimits.bytes,
            until: reply.raw,
          });
      } catch (error) {
        done(error instanceof Error ? error : new Error('the authorizer failed', { cause: error }));
        return;
      }
      done();
    });
  }

  /** Runs page guard and credentials, for requests without an operation. Throws INVALID, FORBIDDEN, UNAUTHENTICATED. */
  identify(request: FastifyRequest): Admitted {
    const { method, headers, headersDistinct, socket } = request.raw;
    const problem = hostProblem(request.raw);
    if (problem !== undefined) throw new SluiceError('INVALID', problem, { headers: { Connection: 'close' } });
    guardAgainstPages({ method: method ?? '', headers, localAddress: socket.localAddress }, this.#allowedHosts);
    return needsKey(request)
      ? this.#keys.callerOf(headers.authorization, headersDistinct.authorization?.length)
      : { caller: anonymousAdmin, keyId: undefined };
  }

  #admit(request: FastifyRequest, reply: FastifyReply): void {
    const { caller, keyId } = this.identify(request);
    request.caller = caller;
    if (keyId !== undefined) this.answers.hold(keyId, reply.raw);
    // J1: a body of any content type is read as JSON.
    request.raw.headers['content-type'] = 'application/json';
    if (request.is404 || lacksName(request)) throw this.#unroutable(request);
    const { right, phrase, parameters } = request.routeOptions.config;
    if (health.has(request.routeOptions.url ?? '')) return;
    // By the operation, not by the target: `/sync/%72aft` leads there too, and its body must not be read either.
    if (relayPaths.has(request.routeOptions.url ?? '')) {
      const isProven = this.#relay.admit(request);
      const limit = request.routeOptions.bodyLimit ?? largeBodyMax;
      if (!isProven) this.#unproven.hold({ ...holderOf(request, reply), limit, until: request.raw });
    }
    if (right === undefined || !holds(request.caller.role, right)) {
      throw new SluiceError('FORBIDDEN', `role ${request.caller.role} may not ${phrase ?? 'use this path'}`);
    }
    if (parameters !== undefined && !isRead(request)) refuseOthers(request.query, parameters);
  }

  #unroutable({ raw }: FastifyRequest): SluiceError {
    const path = pathOf(raw.url);
    const methods = this.#paths.methodsOf(raw.url ?? '');
    if (methods.length === 0) return new SluiceError('NOT_FOUND', `no such path: ${path}`);
    const Allow = methods.join(', ');
    return new SluiceError('METHOD_NOT_ALLOWED', `${raw.method} is not allowed here`, { headers: { Allow } });
  }
}

const holderOf = (request: FastifyRequest, reply: FastifyReply): Pick<BodyHolder, 'request' | 'refuse'> => ({
  request: request.raw,
  refuse: (error) => void reply.send(error),
});

/** Returns whether a request changes nothing, judged by its method: reads of secrets and backups need an admin's right. */
const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

/** Refuses unknown query parameters of a change: `?dryrun=true` and `?confirmwithin=60s` must not count as absent. */
function refuseOthers(query: unknown, parameters: readonly string[]): void {
  const other = Object.keys(Object(query)).find((name) => !parameters.includes(name));
  if (other === undefined) return;
  throw new SluiceError(
    'INVALID',
    `unknown parameter ${JSON.stringify(other)}: ${parameters.join(', ')} are known here`,
  );
}

/** Returns whether a segment is empty. The router takes it for a name: `/routes/` would be the route without an id. */
const lacksName = ({ params }: FastifyRequest): boolean =>
  typeof params === 'object' &&
  params !== null &&
  Object.entries(params).some(([name, value]) => name !== '*' && value === '');

function needsKey({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  const path = pathOf(raw.url);
  if (open.has(path) || path.startsWith('/ui/')) return raw.method !== 'GET' && raw.method !== 'HEAD';
  return !isRelay({ raw });
}

const isRelay = ({ raw }: Pick<FastifyRequest, 'raw'>): boolean =>
  raw.method === 'POST' && relayPaths.has(pathOf(raw.url));

const pathOf = (url: string | undefined): string => (url ?? '').split('?', 1)[0] ?? '';
