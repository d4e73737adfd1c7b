// `POST /diff`.

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConfigurationDifference, DiffRequest } from '../../model/answers/diff-answers.ts';
import { requestOf, send } from '../http-exchange.ts';
import { Operation } from '../operation.ts';
import { DiffService } from './diff.service.ts';

@ApiTags('explain')
@Controller('api/v1')
export class DiffController {
  readonly #service: DiffService;

  constructor(@Inject(DiffService) service: DiffService) {
    this.#service = service;
  }

  @Operation({
    id: 'diffConfigurations',
    method: 'POST',
    path: '/diff',
    summary: 'Compare two configurations',
    description:
      'Entities field by field, findings that are new and gone, and the routes that a change reaches. With `replay` the ' +
      'requests that nodes and connected proxies remember are matched against both, by the code that serves traffic: ' +
      'requests that another route serves, that no route serves any more, that are served otherwise. A request of which ' +
      'the record lacks what decides is undecided. Nothing is sent anywhere. Values of secrets are not shown.',
    right: 'read',
    query: ['fieldValidation', 'consistency', 'minRevision'],
    errors: ['INVALID', 'NOT_FOUND', 'TOO_LARGE', 'UNAVAILABLE'],
    example: { body: { from: 'active', to: 'staged' } },
    body: { of: DiffRequest, required: true },
    answer: {
      status: 200,
      description: 'The difference.',
      of: ConfigurationDifference,
      headers: ['X-Sluice-Revision', 'Warning'],
    },
  })
  async diff(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.diff(requestOf(request)));
  }
}
