// Counts what the API answers. Streams that stay open are not among it: they have no end to measure.
import type { FastifyInstance } from 'fastify';

export interface AnswerObserver {
  answered(operation: string, status: number, ms: number): void;
}

/** What is no operation: unknown paths and methods, and what was refused before one was found. */
const none = 'none';

export function measureRequests(fastify: FastifyInstance, observer: AnswerObserver): void {
  fastify.addHook('onResponse', ({ routeOptions, is404 }, { statusCode, elapsedTime }, done) => {
    observer.answered((is404 ? undefined : routeOptions.config.id) ?? none, statusCode, elapsedTime);
    done();
  });
}
