// `GET /activations` and `POST /rollback`.
import { Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivationRequest } from '../../model/activation-request.ts';
import { requestOf, send } from '../http-exchange.ts';
import { live } from '../live-ids.ts';
import { Operation, refusalsOfChange, Success, schemaRef } from '../operation.ts';
import { ActivationService } from './activation.service.ts';

@ApiTags('activations')
@Controller('api/v1')
export class ActivationsController {
  readonly #service: ActivationService;

  constructor(@Inject(ActivationService) service: ActivationService) {
    this.#service = service;
  }

  @Get('activations')
  @Operation({
    id: 'listActivations',
    summary: 'List activations',
    description: 'Activations with time, caller and comment; the newest first. The last 10,000 are kept.',
    right: 'read',
    query: ['limit', 'at', 'consistency', 'minRevision'],
    errors: ['INVALID', 'UNAVAILABLE'],
  })
  @Success(200, 'Activations.', { type: 'array', items: schemaRef('Activation') }, ['X-Sluice-Revision'])
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.list(requestOf(request)));
  }

  @Get('activations/:index/diff')
  @Operation({
    id: 'diffActivation',
    summary: 'Compare an activation with the one before it',
    description:
      'Entities field by field, findings that are new and gone, and the routes that a change reaches. Of the first ' +
      'activation everything is created. Values of secrets are not shown.',
    right: 'read',
    query: ['consistency', 'minRevision'],
    errors: ['INVALID', 'NOT_FOUND', 'GONE', 'UNAVAILABLE'],
    example: { path: { index: live('activation') } },
  })
  @ApiParam({ name: 'index', description: 'Log index of the activation.', schema: { type: 'string' } })
  @Success(200, 'The difference.', schemaRef('ConfigurationDifference'), ['X-Sluice-Revision'])
  async diff(@Param('index') index: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.diff(index, requestOf(request)));
  }

  @Post('rollback')
  @HttpCode(200)
  @Operation({
    id: 'rollBack',
    summary: 'Roll back to what was active before',
    description:
      'Activates the snapshot that was live before the present one: an activation of its own, with the reason `rollback`.',
    right: 'write',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: refusalsOfChange,
    example: { body: { comment: 'Back to what was.' } },
  })
  @ApiBody({ schema: schemaRef(ActivationRequest.name), required: false })
  @Success(200, 'It is active again.', schemaRef('SnapshotSummary'), [
    'ETag',
    'X-Sluice-Revision',
    'X-Sluice-Installed',
    'Warning',
  ])
  async rollBack(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.rollBack(requestOf(request)));
  }
}
