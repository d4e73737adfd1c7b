// `POST /diff`.
import { Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestOf, send } from '../http-exchange.ts';
import { Operation, Success, schemaRef } from '../operation.ts';
import { DiffService } from './diff.service.ts';

@ApiTags('explain')
@Controller('api/v1/diff')
export class DiffController {
  readonly #service: DiffService;

  constructor(@Inject(DiffService) service: DiffService) {
    this.#service = service;
  }

  @Post()
  @HttpCode(200)
  @Operation({
    id: 'diffConfigurations',
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
  })
  @ApiBody({ schema: schemaRef('DiffRequest'), required: true })
  @Success(200, 'The difference.', schemaRef('ConfigurationDifference'), ['X-Sluice-Revision', 'Warning'])
  async diff(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.diff(requestOf(request)));
  }
}
