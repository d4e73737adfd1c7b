// `POST /batch` and `POST /batch/large`.

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BatchSnapshotRequest } from '../../model/activation-request.ts';
import { BatchAnswer, LargeBatchAnswer } from '../../model/answers/batch-answers.ts';
import { BatchRequest, LargeBatchRequest } from '../../model/answers/batch-request.ts';
import { Route } from '../../model/route.ts';
import { requestOf, send } from '../http-exchange.ts';
import { Operation, refusalsOfChange } from '../operation.ts';
import { BatchService } from './batch.service.ts';

const declared = {
  right: 'write',
  headers: ['Idempotency-Key', 'If-Match'],
  query: ['dryRun', 'fieldValidation', 'override'],
  errors: [...refusalsOfChange, 'FINDINGS'],
  example: { body: { operations: [{ op: 'upsert', kind: 'routes', body: Route.example }] } },
} as const;
const answerHeaders = ['ETag', 'X-Sluice-Revision', 'X-Sluice-Installed', 'Warning'] as const;

@ApiTags('batch')
@ApiExtraModels(BatchSnapshotRequest)
@Controller('api/v1')
export class BatchController {
  readonly #service: BatchService;

  constructor(@Inject(BatchService) service: BatchService) {
    this.#service = service;
  }

  @Operation({
    ...declared,
    method: 'POST',
    path: '/batch',
    id: 'runBatch',
    summary: 'Write many resources at once',
    description:
      'All operations take effect at one revision, or none does. They are carried out in order; references may point ' +
      'to what the batch creates anywhere. With `snapshot` the result is captured in the same commit, and made live ' +
      'with `activate`. `If-Match` is for the whole staged configuration: the `ETag` of a batch and of `GET /staged/diff`. ' +
      'At most 20,000 operations and 32 MiB.',
    body: { of: BatchRequest, required: true },
    answer: {
      status: 200,
      description: 'What became of each operation; of a dry run, what would.',
      of: BatchAnswer,
      headers: answerHeaders,
    },
  })
  async run(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.run(requestOf(request)));
  }

  @Operation({
    ...declared,
    method: 'POST',
    path: '/batch/large',
    id: 'runLargeBatch',
    summary: 'Write very many resources at once',
    description:
      'As the batch, with up to 200,000 operations and 128 MiB. Its answer counts what was changed and does not list it. A ' +
      'node takes 128 MiB of such bodies at a time; more is 503, not applied.',
    body: { of: LargeBatchRequest, required: true },
    answer: {
      status: 200,
      description: 'What became of the batch; of a dry run, what would.',
      of: LargeBatchAnswer,
      headers: answerHeaders,
    },
  })
  async runLarge(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.runLarge(requestOf(request)));
  }
}
