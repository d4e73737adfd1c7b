// Pipelined requests of a connection, one after the other: only safe ones may be carried out side by side (RFC 9112 §9.3.2),
// and a write that comes behind another one has to find what that left.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Bytes that a waiting request counts as. Node reads no further from a connection whose responses hold back 64 KiB or more, and a
 * request that waits has none yet: without a weight of its own any number of them would be taken in.
 */
const waitingBytes = 2048;

/** Response with the count of Node's HTTP server for what a connection holds back. */
type Counted = ServerResponse<IncomingMessage> & { readonly _onPendingData?: (bytes: number) => void };

export class PipelinedRequests {
  readonly #latest = new WeakMap<Socket, Counted>();

  /** Lets a request begin once the response to the one before it on its connection is written. */
  install(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
      const response: Counted = reply.raw;
      const before = this.#underWay(socket);
      this.#latest.set(socket, response);
      if (before === undefined) {
        done();
        return;
      }
      response._onPendingData?.(waitingBytes);
      // Where the connection ends first, the request has no effect: its response could not be written.
      before.once('finish', () => {
        response._onPendingData?.(-waitingBytes);
        done();
      });
    });
  }

  /** Returns the last response under way of a connection whose requests have come in whole: what is malformed came behind them. */
  answering(socket: Socket): ServerResponse<IncomingMessage> | undefined {
    const response = this.#underWay(socket);
    return response?.req.complete === true ? response : undefined;
  }

  #underWay(socket: Socket): Counted | undefined {
    const response = this.#latest.get(socket);
    return response === undefined || response.closed || response.writableFinished ? undefined : response;
  }
}
