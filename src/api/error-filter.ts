// The one place where a failure becomes a response: `{"error": text}` with exactly `application/json`
// (contract.md §0.4). An error that is not meant for the caller is logged and answered with 500 and no detail.
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { SluiceError } from '../errors.ts';
import { send } from '../resources/http-exchange.ts';
import type { Answer } from '../resources/resource-answer.ts';
import type { Logger } from '../telemetry/logger.ts';

@Catch()
export class ErrorFilter implements ExceptionFilter {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    sendError(host.switchToHttp().getResponse<FastifyReply>(), error, this.#logger);
  }
}

/** Sends the response for `error`; aborts a reply that has begun already. */
export function sendError(reply: FastifyReply, error: unknown, logger: Logger): void {
  const answer = answerTo(error, reply.request.routeOptions.bodyLimit);
  if (answer.status === 500) logger.error({ err: error, path: reply.request.routeOptions.url }, 'a request fails');
  if (!reply.sent) send(reply, answer);
  else reply.raw.destroy();
}

function answerTo(error: unknown, bodyLimit: number): Answer {
  if (error instanceof SluiceError) return known(error);
  const status = error instanceof HttpException ? error.getStatus() : statusOf(error);
  if (status === 413) return failure(413, `body is larger than ${Math.floor(bodyLimit / 1024 / 1024)} MiB`);
  if (status >= 400 && status < 500 && error instanceof Error) return failure(status, error.message);
  return failure(500, 'internal error');
}

function known({ code, status, message, details }: SluiceError): Answer {
  const body = JSON.stringify({ error: message, ...details.body });
  return { status, headers: { ...(code === 'UNAVAILABLE' && { 'retry-after': '1' }), ...details.headers }, body };
}

const failure = (status: number, message: string): Answer => ({
  status,
  headers: {},
  body: JSON.stringify({ error: message }),
});

/** Status of an error; Fastify's own errors carry theirs. */
const statusOf = (error: unknown): number =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
