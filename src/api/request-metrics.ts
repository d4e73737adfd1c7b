// Counts the answers of the API. Open streams are left out: they have no end to measure.
import type { FastifyInstance } from 'fastify';

export interface AnswerObserver {
  answered(operation: string, status: number, ms: number): void;
}

/** Operation of requests at unknown paths and methods, and of those refused before the lookup. */
const none = 'none';

export function measureRequests(fastify: FastifyInstance, observer: AnswerObserver): void {
  fastify.addHook('onResponse', ({ routeOptions, is404 }, { statusCode, elapsedTime }, done) => {
    observer.answered((is404 ? undefined : routeOptions.config.id) ?? none, statusCode, elapsedTime);
    done();
  });
}
