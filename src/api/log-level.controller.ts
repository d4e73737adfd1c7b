// Log level of this node, changed while it runs.
import { Controller, Get, Inject, Put, Req, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation, Success, schemaRef } from '../resources/operation.ts';
import { LogLevelOperations } from './log-level-operations.ts';

@ApiTags('health')
@Controller('api/v1/log-level')
export class LogLevelController {
  readonly #levels: LogLevelOperations;

  constructor(@Inject(LogLevelOperations) levels: LogLevelOperations) {
    this.#levels = levels;
  }

  @Get()
  @Operation({
    id: 'getLogLevel',
    summary: 'Read the log levels',
    description: 'How much this node logs, module by module.',
    right: 'read',
  })
  @Success(200, 'The levels.', schemaRef('LogLevels'), [])
  read(@Res() reply: FastifyReply): void {
    send(reply, this.#levels.read());
  }

  @Put()
  @Operation({
    id: 'setLogLevel',
    summary: 'Set a log level',
    description:
      'Of one module, or of all without `module`. It takes effect at once in every thread of this node, and lasts until its end.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: ['INVALID', 'TOO_LARGE'],
    example: { body: { level: 'info' } },
  })
  @ApiBody({ schema: schemaRef('LogLevelRequest'), required: true })
  @Success(200, 'The levels as they are now.', schemaRef('LogLevels'), ['Warning'])
  async set(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#levels.set(requestOf(request)));
  }
}
