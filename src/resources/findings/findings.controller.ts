// `GET /findings`.
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestOf, send } from '../http-exchange.ts';
import { Operation, Success, schemaRef } from '../operation.ts';
import { FindingsService } from './findings.service.ts';

@ApiTags('explain')
@Controller('api/v1/findings')
export class FindingsController {
  readonly #service: FindingsService;

  constructor(@Inject(FindingsService) service: FindingsService) {
    this.#service = service;
  }

  @Get()
  @Operation({
    id: 'listFindings',
    summary: 'List what is wrong with a configuration',
    description:
      'Routes that no request reaches, redirects that lead back, credentials in cleartext and more, each with a request ' +
      'that shows it where there is one: `POST /explain` says the same of it. Nothing is listed that is not certain.',
    right: 'read',
    query: ['of', 'consistency', 'minRevision'],
    errors: ['INVALID', 'NOT_FOUND', 'UNAVAILABLE'],
  })
  @Success(200, 'The findings.', schemaRef('Findings'), ['X-Sluice-Revision'])
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.list(requestOf(request)));
  }
}
