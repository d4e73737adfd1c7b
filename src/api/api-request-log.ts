// Log of requests, one line each: caller, operation and status. Writes and refused callers at info, for
// audits; reads at debug. Neither queries nor bodies go in, since they may hold secrets.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../telemetry/logger.ts';

const reading: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);

export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const level = isNotable(request, reply) ? 'info' : 'debug';
    logger[level](fieldsOf(request, reply), 'a request was answered');
    done();
  });
}

const isNotable = ({ raw }: FastifyRequest, { statusCode }: FastifyReply): boolean =>
  !reading.has(raw.method) || statusCode === 401 || statusCode === 403 || statusCode >= 500;

const fieldsOf = ({ raw, caller, ip }: FastifyRequest, { statusCode, elapsedTime }: FastifyReply) => ({
  method: raw.method,
  path: raw.url?.split('?', 1)[0],
  status: statusCode,
  ms: Math.round(elapsedTime),
  ip,
  ...(caller?.name && { key: caller.name }),
});
