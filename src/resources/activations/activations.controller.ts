// `GET /activations` and `POST /rollback`.

import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivationRequest } from '../../model/activation-request.ts';
import { ActivationRecord } from '../../model/answers/activation-record.ts';
import { ConfigurationDifference } from '../../model/answers/diff-answers.ts';
import { list, object } from '../../model/json-type.ts';
import { SnapshotSummary } from '../../model/snapshot.ts';
import { requestOf, send } from '../http-exchange.ts';
import { live } from '../live-ids.ts';
import { Operation, refusalsOfChange } from '../operation.ts';
import { ActivationService } from './activation.service.ts';

@ApiTags('activations')
@Controller('api/v1')
export class ActivationsController {
  readonly #service: ActivationService;

  constructor(@Inject(ActivationService) service: ActivationService) {
    this.#service = service;
  }

  @Operation({
    id: 'listActivations',
    method: 'GET',
    path: '/activations',
    summary: 'List activations',
    description: 'Activations with time, caller and comment; the newest first. The last 10,000 are kept.',
    right: 'read',
    query: ['limit', 'at', 'consistency', 'minRevision'],
    errors: ['INVALID', 'UNAVAILABLE'],
    answer: {
      status: 200,
      description: 'Activations.',
      of: list(object(ActivationRecord)),
      headers: ['X-Sluice-Revision'],
    },
  })
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.list(requestOf(request)));
  }

  @Operation({
    id: 'diffActivation',
    method: 'GET',
    path: '/activations/:index/diff',
    summary: 'Compare an activation with the one before it',
    description:
      'Entities field by field, findings that are new and gone, and the routes that a change reaches. Of the first ' +
      'activation everything is created. Values of secrets are not shown.',
    right: 'read',
    query: ['consistency', 'minRevision'],
    errors: ['INVALID', 'NOT_FOUND', 'GONE', 'UNAVAILABLE'],
    example: { path: { index: live('activation') } },
    parameters: [{ name: 'index', description: 'Log index of the activation.' }],
    answer: {
      status: 200,
      description: 'The difference.',
      of: ConfigurationDifference,
      headers: ['X-Sluice-Revision'],
    },
  })
  async diff(@Param('index') index: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.diff(index, requestOf(request)));
  }

  @Operation({
    id: 'rollBack',
    method: 'POST',
    path: '/rollback',
    summary: 'Roll back to what was active before',
    description:
      'Activates the snapshot that was live before the present one: an activation of its own, with the reason `rollback`.',
    right: 'write',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: refusalsOfChange,
    example: { body: { comment: 'Back to what was.' } },
    body: { of: ActivationRequest, required: false },
    answer: {
      status: 200,
      description: 'It is active again.',
      of: SnapshotSummary,
      headers: ['ETag', 'X-Sluice-Revision', 'X-Sluice-Installed', 'Warning'],
    },
  })
  async rollBack(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.rollBack(requestOf(request)));
  }
}
