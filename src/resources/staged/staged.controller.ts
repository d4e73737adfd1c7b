// `GET /staged/diff` and `POST /staged/discard`.

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Discarded, StagedDifference } from '../../model/answers/entity-difference.ts';
import { DiscardRequest } from '../../model/discard-request.ts';
import { requestOf, send } from '../http-exchange.ts';
import { Operation, refusalsOfChange } from '../operation.ts';
import { StagedService } from './staged.service.ts';

@ApiTags('batch')
@ApiExtraModels(DiscardRequest)
@Controller('api/v1')
export class StagedController {
  readonly #staged: StagedService;

  constructor(@Inject(StagedService) staged: StagedService) {
    this.#staged = staged;
  }

  @Operation({
    id: 'diffStaged',
    method: 'GET',
    path: '/staged/diff',
    summary: 'Compare what is staged with what is live',
    description:
      'Edits that are not live yet, field by field, from the live value to the staged one. References to secrets stand ' +
      'as they are written. The `ETag` is that of the whole staged configuration, for `If-Match` of a batch.',
    right: 'read',
    query: ['owner', 'label', 'consistency', 'minRevision'],
    errors: ['INVALID', 'UNAVAILABLE'],
    answer: {
      status: 200,
      description: 'The difference.',
      of: StagedDifference,
      headers: ['ETag', 'X-Sluice-Revision'],
    },
  })
  async diff(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#staged.diff(requestOf(request)));
  }

  @Operation({
    id: 'discardStaged',
    method: 'POST',
    path: '/staged/discard',
    summary: 'Discard unfinished edits',
    description:
      'Brings what is staged back to what is live: everything, what an owner has, or named resources. What is not live ' +
      'is deleted, what was deleted comes back.',
    right: 'write',
    headers: ['If-Match', 'Idempotency-Key'],
    query: ['fieldValidation'],
    errors: refusalsOfChange,
    example: { body: { entities: [{ kind: 'routes', id: 'shop' }] } },
    body: { of: DiscardRequest, required: false },
    answer: {
      status: 200,
      description: 'What was discarded.',
      of: Discarded,
      headers: ['ETag', 'X-Sluice-Revision', 'Warning'],
    },
  })
  async discard(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#staged.discard(requestOf(request)));
  }
}
