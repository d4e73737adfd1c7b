// Operations on snapshots (contract.md §3.3). Immutable once created, so there is no PUT; activation makes one live.

import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivationRequest } from '../../model/activation-request.ts';
import { CreatedSnapshot, FullSnapshot, SnapshotRequest } from '../../model/answers/snapshot-answers.ts';
import { list, object } from '../../model/json-type.ts';
import { SnapshotSummary } from '../../model/snapshot.ts';
import { requestOf, send } from '../http-exchange.ts';
import { live } from '../live-ids.ts';
import { Operation, refusalsOfChange } from '../operation.ts';
import { SnapshotService } from './snapshot.service.ts';

const byId = { name: 'id', description: 'Id of the snapshot.' } as const;

@ApiTags('snapshots')
@ApiExtraModels(SnapshotSummary, ActivationRequest)
@Controller('api/v1')
export class SnapshotsController {
  readonly #snapshots: SnapshotService;

  constructor(@Inject(SnapshotService) snapshots: SnapshotService) {
    this.#snapshots = snapshots;
  }

  @Operation({
    id: 'listSnapshots',
    method: 'GET',
    path: '/snapshots',
    summary: 'List snapshots',
    description: 'Summaries, ascending by time of creation.',
    right: 'read',
    query: ['owner', 'label', 'consistency', 'minRevision'],
    errors: ['INVALID', 'UNAVAILABLE'],
    answer: {
      status: 200,
      description: 'All snapshots.',
      of: list(object(SnapshotSummary)),
      headers: ['X-Sluice-Revision'],
    },
  })
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#snapshots.list(requestOf(request)));
  }

  @Operation({
    id: 'createSnapshot',
    method: 'POST',
    path: '/snapshots',
    summary: 'Create a snapshot',
    description:
      'Captures the staged configuration and the value of every secret reference. Refused with all problems when it ' +
      'could not be served as it stands; what is merely dangling or has no effect is listed in `warnings`. The answer ' +
      'shows references, and their values only with `secrets=resolved`.',
    right: 'write',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation', 'strict', 'failOn', 'secrets'],
    errors: [
      'INVALID',
      'NOT_FOUND',
      'CONFLICT',
      'TOO_LARGE',
      'KEY_REUSED',
      'FINDINGS',
      'UNAVAILABLE',
      'OUTCOME_UNKNOWN',
    ],
    example: { body: { name: 'first' } },
    body: { of: SnapshotRequest, required: true },
    answer: {
      status: 201,
      description: 'The created snapshot.',
      of: CreatedSnapshot,
      headers: ['ETag', 'Location', 'X-Sluice-Revision', 'Warning'],
    },
  })
  async create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#snapshots.create(requestOf(request)));
  }

  @Operation({
    id: 'getSnapshot',
    method: 'GET',
    path: '/snapshots/:id',
    summary: 'Read a snapshot',
    description: 'With references; with the values of secrets when the role admin asks for `secrets=resolved`.',
    right: 'read',
    query: ['consistency', 'minRevision', 'secrets'],
    errors: ['INVALID', 'NOT_FOUND', 'UNAVAILABLE'],
    example: { path: { id: live('snapshot') } },
    parameters: [byId],
    answer: { status: 200, description: 'The snapshot.', of: FullSnapshot, headers: ['ETag', 'X-Sluice-Revision'] },
  })
  async get(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#snapshots.get(id, requestOf(request)));
  }

  @Operation({
    id: 'deleteSnapshot',
    method: 'DELETE',
    path: '/snapshots/:id',
    summary: 'Delete a snapshot',
    description: 'Not while it is active.',
    right: 'write',
    headers: ['If-Match'],
    query: ['override', 'fieldValidation'],
    errors: refusalsOfChange,
    example: { path: { id: live('snapshot') } },
    parameters: [byId],
    answer: { status: 204, description: 'It is deleted.', headers: ['X-Sluice-Revision', 'Warning'] },
  })
  async remove(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#snapshots.remove(id, requestOf(request)));
  }

  @Operation({
    id: 'activateSnapshot',
    method: 'POST',
    path: '/snapshots/:id/activate',
    summary: 'Activate a snapshot',
    description:
      'Makes it live on every proxy. Activating an earlier one is the way back. Answers when every worker of this ' +
      'node has installed it, or after five seconds; `X-Sluice-Installed` says which. A listener whose port cannot be ' +
      'had is named in `Warning` and tried again until it opens. With `confirmWithin` what was active before becomes ' +
      'active again unless `POST /snapshots/{id}/confirm` comes in time.',
    right: 'write',
    headers: ['If-Match', 'Idempotency-Key'],
    query: ['wait', 'timeout', 'confirmWithin', 'force', 'fieldValidation'],
    errors: refusalsOfChange,
    example: { path: { id: live('snapshot') }, body: { comment: 'The shop opens.' } },
    parameters: [byId],
    body: { of: ActivationRequest, required: false },
    answer: {
      status: 200,
      description: 'It is active.',
      of: SnapshotSummary,
      headers: ['ETag', 'X-Sluice-Revision', 'X-Sluice-Installed', 'Warning'],
    },
  })
  async activate(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#snapshots.activate(id, requestOf(request)));
  }

  @Operation({
    id: 'confirmSnapshot',
    method: 'POST',
    path: '/snapshots/:id/confirm',
    summary: 'Confirm an activation',
    description: 'Keeps a snapshot active that was activated with `confirmWithin`.',
    right: 'write',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: refusalsOfChange,
    example: { path: { id: live('unconfirmed') } },
    parameters: [byId],
    answer: {
      status: 200,
      description: 'It stays active.',
      of: SnapshotSummary,
      headers: ['ETag', 'X-Sluice-Revision', 'Warning'],
    },
  })
  async confirm(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#snapshots.confirm(id, requestOf(request)));
  }
}
