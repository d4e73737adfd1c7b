// `GET /findings`.

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Findings } from '../../model/answers/finding-answers.ts';
import { requestOf, send } from '../http-exchange.ts';
import { Operation } from '../operation.ts';
import { FindingsService } from './findings.service.ts';

@ApiTags('explain')
@Controller('api/v1')
export class FindingsController {
  readonly #service: FindingsService;

  constructor(@Inject(FindingsService) service: FindingsService) {
    this.#service = service;
  }

  @Operation({
    id: 'listFindings',
    method: 'GET',
    path: '/findings',
    summary: 'List what is wrong with a configuration',
    description:
      'Routes that no request reaches, redirects that lead back, credentials in cleartext and more, each with a request ' +
      'that shows it where there is one: `POST /explain` says the same of it. Nothing is listed that is not certain.',
    right: 'read',
    query: ['of', 'consistency', 'minRevision'],
    errors: ['INVALID', 'NOT_FOUND', 'UNAVAILABLE'],
    answer: { status: 200, description: 'The findings.', of: Findings, headers: ['X-Sluice-Revision'] },
  })
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.list(requestOf(request)));
  }
}
