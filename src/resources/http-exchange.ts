// Adapter between Fastify and the operations: reads requests, sends answers. Used by every controller.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pauses } from '../util/time-slice.ts';
import type { Caller } from './caller.ts';
import type { OperationConfig } from './operation.ts';
import type { Answer, ApiRequest } from './resource-answer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the authorizer before any handler runs. */
    caller: Caller;
  }
  interface FastifyContextConfig extends Partial<OperationConfig> {}
}

export function requestOf({ caller, raw, query, body }: FastifyRequest): ApiRequest {
  return {
    caller,
    path: (raw.url ?? '').split('?', 1)[0] ?? '',
    query: isRecord(query) ? query : {},
    headers: raw.headers,
    body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  };
}

/**
 * Sends JSON with exactly `application/json` (contract.md §0.4), for which it must be bytes: Fastify adds a charset to
 * text. 204 has no body and no type. Nothing is kept by caches: answers are moments of the state, and may hold secrets.
 */
export function send(reply: FastifyReply, { status, headers, body }: Answer): void {
  reply.code(status).header('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
  if (status === 204) reply.send();
  else reply.header('Content-Type', 'application/json').send(typeof body === 'string' ? Buffer.from(body) : sent(body));
}

/** Stream of the body with backpressure: pieces are made as the client reads them, with turns for other work. */
const sent = (body: Iterable<string>): Readable => Readable.from(bytesOf(body), { objectMode: false });

async function* bytesOf(pieces: Iterable<string>): AsyncGenerator<Buffer> {
  const pauses = new Pauses();
  for (const piece of pieces) {
    if (pauses.isDue) await pauses.pause();
    yield Buffer.from(piece);
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
