// Span of each request to the API, the parent of all work for it (observability.md §3).
// Neither queries nor bodies go in, since they may hold secrets.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { methodAttributes, methodName } from '../telemetry/traces/span-texts.ts';
import { parseTraceParent } from '../telemetry/traces/trace-parent.ts';
import type { WorkSpan, WorkTraces } from '../telemetry/traces/work-traces.ts';
import { apiBase } from './api-paths.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Span of the request; undefined while traces are off, and for health checks. */
    workSpan: WorkSpan | undefined;
  }
}

const untraced = new Set(['/healthz', '/readyz', '/metrics'].flatMap((path) => [path, `${apiBase}${path}`]));

export function traceRequests(fastify: FastifyInstance, traces: WorkTraces): void {
  fastify.decorateRequest('workSpan', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    const operation = request.routeOptions.url;
    if (operation === undefined || !untraced.has(operation)) {
      const span = begin(traces, request, operation);
      request.workSpan = span;
      // Emitted at any end of the response.
      reply.raw.once('close', () => {
        const { statusCode, writableFinished } = reply.raw;
        span.setAttributes({ 'http.response.status_code': statusCode });
        span.end(statusCode >= 500 ? String(statusCode) : writableFinished ? '' : 'aborted');
      });
    }
    done();
  });
  // After the body has been read, which happens on behalf of the connection.
  fastify.addHook('preHandler', ({ workSpan }, _reply, done) => {
    if (workSpan === undefined) done();
    else traces.run(workSpan, done);
  });
}

function begin(traces: WorkTraces, request: FastifyRequest, operation: string | undefined): WorkSpan {
  const { method = '', url = '', headersDistinct, httpVersion, socket } = request.raw;
  const carried = headersDistinct.traceparent;
  const parent = carried?.length === 1 ? parseTraceParent(carried[0] ?? '') : undefined;
  const name = methodName(method);
  const span = traces.enter('server', operation === undefined ? name : `${name} ${operation}`, parent);
  span.setAttributes({
    ...methodAttributes(method),
    'url.scheme': request.protocol,
    'url.path': url.split('?', 1)[0] ?? '',
    ...(operation !== undefined && { 'http.route': operation }),
    'network.protocol.version': httpVersion,
    ...(socket.remoteAddress !== undefined && { 'client.address': socket.remoteAddress }),
  });
  return span;
}
