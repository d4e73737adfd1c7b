// `GET /staged/diff` and `POST /staged/discard`.
import { Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DiscardRequest } from '../../model/discard-request.ts';
import { requestOf, send } from '../http-exchange.ts';
import { Operation, refusalsOfChange, Success, schemaRef } from '../operation.ts';
import { StagedService } from './staged.service.ts';

@ApiTags('batch')
@ApiExtraModels(DiscardRequest)
@Controller('api/v1/staged')
export class StagedController {
  readonly #staged: StagedService;

  constructor(@Inject(StagedService) staged: StagedService) {
    this.#staged = staged;
  }

  @Get('diff')
  @Operation({
    id: 'diffStaged',
    summary: 'Compare what is staged with what is live',
    description:
      'Edits that are not live yet, field by field, from the live value to the staged one. References to secrets stand ' +
      'as they are written. The `ETag` is that of the whole staged configuration, for `If-Match` of a batch.',
    right: 'read',
    query: ['owner', 'label', 'consistency', 'minRevision'],
    errors: ['INVALID', 'UNAVAILABLE'],
  })
  @Success(200, 'The difference.', schemaRef('StagedDifference'), ['ETag', 'X-Sluice-Revision'])
  async diff(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#staged.diff(requestOf(request)));
  }

  @Post('discard')
  @HttpCode(200)
  @Operation({
    id: 'discardStaged',
    summary: 'Discard unfinished edits',
    description:
      'Brings what is staged back to what is live: everything, what an owner has, or named resources. What is not live ' +
      'is deleted, what was deleted comes back.',
    right: 'write',
    headers: ['If-Match', 'Idempotency-Key'],
    query: ['fieldValidation'],
    errors: refusalsOfChange,
    example: { body: { entities: [{ kind: 'routes', id: 'shop' }] } },
  })
  @ApiBody({ schema: schemaRef(DiscardRequest.name), required: false })
  @Success(200, 'What was discarded.', schemaRef('Discarded'), ['ETag', 'X-Sluice-Revision', 'Warning'])
  async discard(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#staged.discard(requestOf(request)));
  }
}
