// The HTTP server under the API: Fastify with the rules of contract.md §0.2 and §3.1 about bodies, URLs and bytes that
// are no HTTP at all. Knows nothing of resources.
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiTls } from '../settings/control-plane-settings.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { WorkTraces } from '../telemetry/traces/work-traces.ts';
import type { Clock } from '../util/clock.ts';
import { logRequests } from './api-request-log.ts';
import { Arrivals, takeInSlices } from './arrivals.ts';
import type { Authorizer } from './authorizer.ts';
import { Connections } from './connections.ts';
import { sendError } from './error-filter.ts';
import { lingerAfter, lingeringClose } from './lingering-close.ts';
import { PipelinedRequests } from './pipelined-requests.ts';
import { type AnswerObserver, measureRequests } from './request-metrics.ts';
import { traceRequests } from './request-traces.ts';

/** Limits of clients of the API. */
export interface ConnectionLimits {
  /** Milliseconds for the head of a request, and before it for the TLS handshake. */
  readonly headMs: number;
  /** Milliseconds for a whole request. */
  readonly requestMs: number;
  /** Open connections; beyond it slow and idle ones make room. */
  readonly connections: number;
  /** Connections that are kept even where descriptors are scarce. */
  readonly assured: number;
  /** Returns true for a connection that took one of the last descriptors. */
  readonly isScarce: (socket: Socket) => boolean;
}

interface ServerOptions {
  readonly clock: Clock;
  readonly limits?: Partial<ConnectionLimits> | undefined;
  readonly tls?: ApiTls;
  readonly authorizer: Authorizer;
  readonly logger: Logger;
  readonly observer: AnswerObserver;
  /** Undefined: nothing is traced. */
  readonly traces?: WorkTraces | undefined;
  /** True from the shutdown on: connections then end with their response, so that closing waits for no idle connection. */
  readonly isClosing: () => boolean;
  /** Returns why this node is no member any more: every answer says so. */
  readonly removal: () => string | undefined;
}

/** Largest request body on any path (architecture.md §9). */
const bodyLimit = 4 * 1024 * 1024;
/** The authorizer refuses a request without Host in the usual form; Node's own refusal has no body. */
const checksHost = { requireHostHeader: false };
const usualLimits: ConnectionLimits = {
  headMs: 10_000,
  requestMs: 60_000,
  connections: 4_096,
  assured: 16,
  isScarce: () => false,
};
/** Milliseconds between Node's checks for requests that take too long. */
const checkMs = 1_000;
/** The request line is limited by Node to 16 KiB; the router must not give up on an id before that. */
const maxParamLength = 16 * 1024;

export function createServer({
  tls,
  authorizer,
  logger,
  observer,
  traces,
  isClosing,
  removal,
  clock,
  limits,
}: ServerOptions): FastifyAdapter {
  const { headMs, requestMs, connections, assured, isScarce }: ConnectionLimits = { ...usualLimits, ...limits };
  const pipelined = new PipelinedRequests();
  const timed = { headersTimeout: headMs, connectionsCheckingInterval: Math.min(checkMs, headMs), ...checksHost };
  const adapter = new FastifyAdapter({
    logger: false,
    bodyLimit,
    requestTimeout: requestMs,
    // A request that comes in on an open connection while the server closes is still answered.
    return503OnClosing: false,
    routerOptions: { maxParamLength, ignoreTrailingSlash: false },
    skipMiddie: true,
    multipart: false,
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
      sendError(reply, refusal(authorizer, request, error), logger),
    clientErrorHandler: (error: Error & { code?: string }, socket: Socket) =>
      refuseInTurn(error, socket, clock, pipelined),
    ...(tls === undefined ? { http: timed } : { https: { ...secure(tls), handshakeTimeout: headMs, ...timed } }),
  });
  const fastify = adapter.getInstance();
  if (tls?.clientAuth === 'optional') fastify.server.on('secureConnection', refuseUnverified);
  fastify.server.on('connect', (_request, socket: Socket) => refuseConnection({ code: 'CONNECT' }, socket, clock));
  // Node's own refusal of an expectation that it does not know has no body; such a one may be ignored (RFC 9110 §10.1.1).
  fastify.server.on('checkExpectation', (request, response) => fastify.server.emit('request', request, response));
  new Connections({ max: connections, assured, isScarce, clock, logger }).watch(fastify.server);
  fastify.server.on('request', (request) => lingerAfter(request, clock));
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  if (traces !== undefined) traceRequests(fastify, traces);
  const later = (run: () => void): void => void setImmediate(run);
  pipelined.install(fastify);
  takeInSlices(fastify, new Arrivals({ now: () => clock.monotonicMs(), later }));
  authorizer.install(fastify);
  logRequests(fastify, logger);
  measureRequests(fastify, observer);
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing()) reply.header('Connection', 'close');
    const reason = removal();
    if (reason !== undefined)
      reply.header('Warning', [reply.getHeader('Warning') ?? [], `299 sluice "${reason}"`].flat());
    done(null, payload);
  });
  return adapter;
}

// The router answers a malformed URL before any hook runs: an unauthorized caller learns no more than that.
function refusal(authorizer: Authorizer, request: FastifyRequest, error: FastifyError): unknown {
  try {
    authorizer.identify(request);
    return error;
  } catch (refused) {
    return refused;
  }
}

const secure = ({ cert, key, ca, clientAuth }: ApiTls) => ({
  cert,
  key,
  ...(ca !== undefined && { ca }),
  minVersion: 'TLSv1.2' as const,
  requestCert: clientAuth !== 'none',
  rejectUnauthorized: clientAuth === 'require',
});

/** Refuses a certificate that does not verify; with `optional` a client may have none (contract.md §1.3). */
function refuseUnverified(socket: TLSSocket): void {
  if (socket.authorized) return;
  if (Object.keys(socket.getPeerCertificate()).length > 0) socket.destroy();
}

/** Returns whether the handshake is unfinished, so that written bytes cannot reach the client yet. */
const isShakingHands = (socket: Socket): boolean => socket instanceof TLSSocket && socket.getFinished() === undefined;

const clientErrors: Readonly<Record<string, readonly [line: string, text: string, more?: string]>> = {
  CONNECT: ['405 Method Not Allowed', 'CONNECT is not allowed here', '\r\nAllow:'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'request headers too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request took too long'],
};

const refusedLater = new WeakSet<Socket>();

/** Refuses behind the answer under way: its client would take a write that was carried out for a refused one. */
function refuseInTurn(error: { code?: string }, socket: Socket, clock: Clock, pipelined: PipelinedRequests): void {
  if (refusedLater.has(socket)) return;
  const answering = error.code === 'ECONNRESET' ? undefined : pipelined.answering(socket);
  if (answering === undefined) {
    refuseConnection(error, socket, clock);
    return;
  }
  refusedLater.add(socket);
  socket.pause();
  answering.once('finish', () => {
    if (socket.writable) refuseConnection(error, socket, clock);
  });
}

// Bytes that are no HTTP get the usual error body, since the client may be a person with netcat.
function refuseConnection({ code = '' }: { code?: string }, socket: Socket, clock: Clock): void {
  if (!socket.writable || code === 'ECONNRESET' || isShakingHands(socket)) {
    socket.destroy();
    return;
  }
  const [line, text, more = ''] = clientErrors[code] ?? ['400 Bad Request', 'malformed HTTP'];
  const body = JSON.stringify({ error: text });
  const date = new Date(clock.nowMs()).toUTCString();
  const type = 'Content-Type: application/json';
  const head = `HTTP/1.1 ${line}\r\nDate: ${date}\r\n${type}\r\nContent-Length: ${body.length}\r\nConnection: close${more}`;
  socket.write(`${head}\r\n\r\n${body}`);
  lingeringClose(socket, clock);
}
