// Log level of this node, changed while it runs.

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LogLevelRequest, ShownLogLevels } from '../model/answers/log-level-answers.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { LogLevelOperations } from './log-level-operations.ts';

@ApiTags('health')
@Controller('api/v1')
export class LogLevelController {
  readonly #levels: LogLevelOperations;

  constructor(@Inject(LogLevelOperations) levels: LogLevelOperations) {
    this.#levels = levels;
  }

  @Operation({
    id: 'getLogLevel',
    method: 'GET',
    path: '/log-level',
    summary: 'Read the log levels',
    description: 'How much this node logs, module by module.',
    right: 'read',
    answer: { status: 200, description: 'The levels.', of: ShownLogLevels },
  })
  read(@Res() reply: FastifyReply): void {
    send(reply, this.#levels.read());
  }

  @Operation({
    id: 'setLogLevel',
    method: 'PUT',
    path: '/log-level',
    summary: 'Set a log level',
    description:
      'Of one module, or of all without `module`. It takes effect at once in every thread of this node, and lasts until its end.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: ['INVALID', 'TOO_LARGE'],
    example: { body: { level: 'info' } },
    body: { of: LogLevelRequest, required: true },
    answer: { status: 200, description: 'The levels as they are now.', of: ShownLogLevels, headers: ['Warning'] },
  })
  async set(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#levels.set(requestOf(request)));
  }
}
