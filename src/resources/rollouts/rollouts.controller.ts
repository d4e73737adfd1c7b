// Progressive activation: `POST /snapshots/{id}/rollout` and the operations on rollouts.

import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PromotionRequest } from '../../model/activation-request.ts';
import { ShownRollout } from '../../model/answers/rollout-answers.ts';
import { list, object } from '../../model/json-type.ts';
import { RolloutRequest } from '../../model/rollout-request.ts';
import { requestOf, send } from '../http-exchange.ts';
import { live } from '../live-ids.ts';
import { Operation, refusalsOfChange } from '../operation.ts';
import { RolloutService } from './rollout.service.ts';

const byId = { name: 'id', description: 'Id of the rollout.' } as const;

/** Declares `POST /rollouts/{id}/<move>`, which answers with the rollout after it. */
const Move = (
  move: string,
  description: string,
  more: Pick<Parameters<typeof Operation>[0], 'body' | 'example'> = {},
) =>
  Operation({
    id: `${move}Rollout`,
    method: 'POST',
    path: `/rollouts/:id/${move}`,
    summary: `${move.charAt(0).toUpperCase()}${move.slice(1)} a rollout`,
    description,
    right: 'write',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: refusalsOfChange,
    parameters: [byId],
    answer: { status: 200, description: 'The rollout.', of: ShownRollout, headers: ['X-Sluice-Revision', 'Warning'] },
    ...more,
    example: { path: { id: live('rollout') }, ...more.example },
  });

@ApiTags('rollouts')
@ApiExtraModels(RolloutRequest, PromotionRequest)
@Controller('api/v1')
export class RolloutsController {
  readonly #service: RolloutService;

  constructor(@Inject(RolloutService) service: RolloutService) {
    this.#service = service;
  }

  @Operation({
    id: 'startRollout',
    method: 'POST',
    path: '/snapshots/:id/rollout',
    summary: 'Start a rollout',
    description:
      'Gives a snapshot to some before all: step by step, as long as every guard holds, and back to the active one by ' +
      'itself when one does not. One at a time; while it is under way nothing else is activated.',
    right: 'write',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: refusalsOfChange,
    example: { path: { id: live('snapshot') }, body: { comment: 'Some clients first.' } },
    parameters: [{ ...byId, description: 'Id of the snapshot.' }],
    body: { of: RolloutRequest, required: false },
    answer: {
      status: 202,
      description: 'It has begun.',
      of: ShownRollout,
      headers: ['Location', 'X-Sluice-Revision', 'Warning'],
    },
  })
  async start(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.start(id, requestOf(request)));
  }

  @Operation({
    id: 'listRollouts',
    method: 'GET',
    path: '/rollouts',
    summary: 'List rollouts',
    description: 'The newest first; of those that are over, the last hundred.',
    right: 'read',
    query: ['consistency', 'minRevision'],
    errors: ['INVALID', 'UNAVAILABLE'],
    answer: { status: 200, description: 'Rollouts.', of: list(object(ShownRollout)), headers: ['X-Sluice-Revision'] },
  })
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.list(requestOf(request)));
  }

  @Operation({
    id: 'getRollout',
    method: 'GET',
    path: '/rollouts/:id',
    summary: 'Read a rollout',
    right: 'read',
    query: ['consistency', 'minRevision'],
    errors: ['INVALID', 'NOT_FOUND', 'UNAVAILABLE'],
    example: { path: { id: live('rollout') } },
    parameters: [byId],
    answer: { status: 200, description: 'The rollout.', of: ShownRollout, headers: ['X-Sluice-Revision'] },
  })
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
    body: { of: PromotionRequest, required: false },
    example: { body: { share: 100 } },
  })
  async promote(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.promote(id, requestOf(request)));
  }
}
