// Operations on API keys (contract.md §3.11).
import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ListedApiKey, MadeApiKey, NewApiKey } from '../model/answers/key-answers.ts';
import { list, object } from '../model/json-type.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { KeyOperations } from './key-operations.ts';
import { RevokedAnswers } from './revoked-answers.ts';

@ApiTags('keys')
@Controller('api/v1')
export class KeysController {
  readonly #keys: KeyOperations;
  readonly #answers: RevokedAnswers;

  constructor(@Inject(KeyOperations) operations: KeyOperations, @Inject(RevokedAnswers) answers: RevokedAnswers) {
    this.#keys = operations;
    this.#answers = answers;
  }

  @Operation({
    id: 'listKeys',
    method: 'GET',
    path: '/keys',
    summary: 'List the API keys',
    description: 'Those of the settings of this node, then those of the cluster. Keys themselves are never shown.',
    right: 'read',
    query: ['consistency', 'minRevision'],
    errors: ['INVALID', 'UNAVAILABLE'],
    answer: { status: 200, description: 'The keys.', of: list(object(ListedApiKey)), headers: ['X-Sluice-Revision'] },
  })
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#keys.list(requestOf(request)));
  }

  @Operation({
    id: 'createKey',
    method: 'POST',
    path: '/keys',
    summary: 'Make an API key',
    description:
      'The answer shows the key, once. A key and its successor have one name: make the new one, move callers over, revoke the ' +
      'old one. Where the settings have no keys the API is open, and this is a conflict.',
    right: 'administer',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    example: { body: { name: 'deploy', role: 'editor' } },
    body: { of: NewApiKey, required: true },
    answer: { status: 201, description: 'The key.', of: MadeApiKey, headers: ['X-Sluice-Revision', 'Warning'] },
  })
  async create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#keys.create(requestOf(request)));
  }

  @Operation({
    id: 'revokeKey',
    method: 'DELETE',
    path: '/keys/:id',
    summary: 'Revoke an API key',
    description: 'One of the cluster. Its requests under way end, streams too.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: ['NOT_FOUND', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    example: { path: { id: '7f9c24e8-3b12-4fa4-9d0e-6b1a2c3d4e5f' } },
    parameters: [{ name: 'id', description: 'Id of the key.' }],
    answer: { status: 204, description: 'It counts no more.', headers: ['X-Sluice-Revision', 'Warning'] },
  })
  async revoke(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.#answers.spare(reply.raw);
    send(reply, await this.#keys.revoke(id, requestOf(request)));
  }
}
