// Progressive activation: `POST /snapshots/{id}/rollout` and the operations on rollouts.
import { applyDecorators, Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PromotionRequest } from '../../model/activation-request.ts';
import { RolloutRequest } from '../../model/rollout-request.ts';
import { requestOf, send } from '../http-exchange.ts';
import { live } from '../live-ids.ts';
import { Operation, refusalsOfChange, Success, schemaRef } from '../operation.ts';
import { RolloutService } from './rollout.service.ts';

const byId = { name: 'id', description: 'Id of the rollout.', schema: { type: 'string' } } as const;

/** Declares `POST /rollouts/{id}/<move>`, which answers with the rollout after it. */
const Move = (move: string, description: string, body?: object) =>
  applyDecorators(
    Post(`rollouts/:id/${move}`),
    HttpCode(200),
    Operation({
      id: `${move}Rollout`,
      summary: `${move.charAt(0).toUpperCase()}${move.slice(1)} a rollout`,
      description,
      right: 'write',
      headers: ['Idempotency-Key'],
      query: ['fieldValidation'],
      errors: refusalsOfChange,
      example: { path: { id: live('rollout') }, ...(body !== undefined && { body }) },
    }),
    ApiParam(byId),
    Success(200, 'The rollout.', schemaRef('Rollout'), ['X-Sluice-Revision', 'Warning']),
  );

@ApiTags('rollouts')
@ApiExtraModels(RolloutRequest, PromotionRequest)
@Controller('api/v1')
export class RolloutsController {
  readonly #service: RolloutService;

  constructor(@Inject(RolloutService) service: RolloutService) {
    this.#service = service;
  }

  @Post('snapshots/:id/rollout')
  @HttpCode(202)
  @Operation({
    id: 'startRollout',
    summary: 'Start a rollout',
    description:
      'Gives a snapshot to some before all: step by step, as long as every guard holds, and back to the active one by ' +
      'itself when one does not. One at a time; while it is under way nothing else is activated.',
    right: 'write',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: refusalsOfChange,
    example: { path: { id: live('snapshot') }, body: { comment: 'Some clients first.' } },
  })
  @ApiParam({ ...byId, description: 'Id of the snapshot.' })
  @ApiBody({ schema: schemaRef(RolloutRequest.name), required: false })
  @Success(202, 'It has begun.', schemaRef('Rollout'), ['Location', 'X-Sluice-Revision', 'Warning'])
  async start(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.start(id, requestOf(request)));
  }

  @Get('rollouts')
  @Operation({
    id: 'listRollouts',
    summary: 'List rollouts',
    description: 'The newest first; of those that are over, the last hundred.',
    right: 'read',
    query: ['consistency', 'minRevision'],
    errors: ['INVALID', 'UNAVAILABLE'],
  })
  @Success(200, 'Rollouts.', { type: 'array', items: schemaRef('Rollout') }, ['X-Sluice-Revision'])
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.list(requestOf(request)));
  }

  @Get('rollouts/:id')
  @Operation({
    id: 'getRollout',
    summary: 'Read a rollout',
    right: 'read',
    query: ['consistency', 'minRevision'],
    errors: ['INVALID', 'NOT_FOUND', 'UNAVAILABLE'],
    example: { path: { id: live('rollout') } },
  })
  @ApiParam(byId)
  @Success(200, 'The rollout.', schemaRef('Rollout'), ['X-Sluice-Revision'])
  async get(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.get(id, requestOf(request)));
  }

  @Move('pause', 'The share stays as it is, and nothing is judged until it is resumed.')
  async pause(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.move(id, 'pause', requestOf(request)));
  }

  @Move('resume', 'The step under way begins anew, with its hold and its figures.')
  async resume(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.move(id, 'resume', requestOf(request)));
  }

  @Move('abort', 'Everyone is served by what is active.')
  async abort(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.move(id, 'abort', requestOf(request)));
  }

  @Move('promote', 'To its next step now, without regard to the guards; with `{"share":100}` to its end.', {
    share: 100,
  })
  @ApiBody({ schema: schemaRef(PromotionRequest.name), required: false })
  async promote(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.promote(id, requestOf(request)));
  }
}
