// Pipelined requests of a connection, one after the other: only safe ones may be carried out side by side (RFC 9112 §9.3.2),
// and a write that comes behind another one has to find what that left.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Lets a request begin once the response to the one before it on its connection is written. */
export function takeInOrder(fastify: FastifyInstance): void {
  const latest = new WeakMap<Socket, ServerResponse<IncomingMessage>>();
  fastify.addHook('onRequest', ({ raw: { socket } }, { raw: response }, done) => {
    const before = latest.get(socket);
    latest.set(socket, response);
    // Where the connection ends first, the request has no effect: its response could not be written.
    if (before === undefined || before.closed || before.writableFinished) done();
    else before.once('finish', () => done());
  });
}
