// The one factory behind every kind that is edited, secrets among them: five operations each,
// the same order of checks, the same headers. A kind's module names its kind and its schema and is done.

import { Controller, Inject, Param, Req, Res, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SecretSummary } from '../model/answers/snapshot-answers.ts';
import { editableClasses } from '../model/config-classes.ts';
import { list, object } from '../model/json-type.ts';
import { type EditableKind, nounOf } from '../model/kinds.ts';
import type { Class } from '../model/schema.ts';
import { requestOf, send } from './http-exchange.ts';
import { Operation, refusalsOfChange } from './operation.ts';
import { ResourceService } from './resource.service.ts';

/** @param model class of src/model that holds the kind's schema. */
export function crudController(kind: EditableKind, model: Type<unknown>): Type<unknown> {
  const noun = nounOf(kind);
  const Noun = noun.charAt(0).toUpperCase() + noun.slice(1);
  const isSecret = kind === 'secrets';
  const entity: Class = editableClasses[kind];
  const shown: Class = isSecret ? SecretSummary : entity;
  const { example } = editableClasses[kind];
  const one = { path: { id: example.id } };
  const examples = { working: { summary: `A ${noun} that works`, value: example } };

  @ApiTags(kind)
  @ApiExtraModels(model)
  @Controller('api/v1')
  class CrudController {
    readonly #resources: ResourceService;

    constructor(@Inject(ResourceService) resources: ResourceService) {
      this.#resources = resources;
    }

    @Operation({
      id: `list${Noun}s`,
      method: 'GET',
      path: `/${kind}`,
      summary: `List ${kind}`,
      description: isSecret ? 'Ascending by id, with values only for `secrets=resolved`.' : 'Ascending by id.',
      right: 'read',
      query: ['owner', 'label', 'secrets', ...(isSecret ? (['changedAt'] as const) : []), 'consistency', 'minRevision'],
      errors: ['INVALID', 'UNAVAILABLE'],
      answer: { status: 200, description: `All ${kind}.`, of: list(object(shown)), headers: ['X-Sluice-Revision'] },
    })
    async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      send(reply, await this.#resources.list(kind, requestOf(request)));
    }

    @Operation({
      id: `create${Noun}`,
      method: 'POST',
      path: `/${kind}`,
      summary: `Create a ${noun}`,
      description: 'Staged until a snapshot of it is activated. The id is assigned unless the body brings one.',
      right: 'write',
      headers: ['Idempotency-Key'],
      query: ['fieldValidation'],
      errors: refusalsOfChange,
      body: { of: entity, required: true, examples },
      answer: {
        status: 201,
        description: `The created ${noun}.`,
        of: shown,
        headers: ['ETag', 'Location', 'X-Sluice-Revision', 'Warning'],
      },
    })
    async create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      send(reply, await this.#resources.create(kind, requestOf(request)));
    }

    @Operation({
      id: `get${Noun}`,
      method: 'GET',
      path: `/${kind}/:id`,
      summary: isSecret ? 'Read the value of a secret' : `Read a ${noun}`,
      right: isSecret ? 'administer' : 'read',
      query: ['consistency', 'minRevision'],
      errors: ['INVALID', 'NOT_FOUND', 'UNAVAILABLE'],
      example: one,
      parameters: [{ name: 'id', description: `Id of the ${noun}.` }],
      answer: { status: 200, description: `The ${noun}.`, of: entity, headers: ['ETag', 'X-Sluice-Revision'] },
    })
    async get(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      send(reply, await this.#resources.get(kind, id, requestOf(request)));
    }

    @Operation({
      id: `update${Noun}`,
      method: 'PUT',
      path: `/${kind}/:id`,
      summary: `Update a ${noun}`,
      description:
        'Replaces the whole resource, but for owner and labels where the body has none. Staged until a snapshot of it ' +
        'is activated.',
      right: 'write',
      headers: ['If-Match'],
      query: ['fieldValidation', 'override'],
      errors: refusalsOfChange,
      example: one,
      parameters: [
        {
          name: 'id',
          description: `Id of the ${noun}; an id in the body is ignored.`,
        },
      ],
      body: { of: entity, required: true, examples },
      answer: {
        status: 200,
        description: `The stored ${noun}.`,
        of: shown,
        headers: ['ETag', 'X-Sluice-Revision', 'Warning'],
      },
    })
    async replace(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      send(reply, await this.#resources.replace(kind, id, requestOf(request)));
    }

    @Operation({
      id: `delete${Noun}`,
      method: 'DELETE',
      path: `/${kind}/:id`,
      summary: `Delete a ${noun}`,
      description: 'Always possible; what refers to it keeps the dangling id.',
      right: 'write',
      headers: ['If-Match'],
      query: ['override', 'fieldValidation'],
      errors: ['INVALID', 'NOT_FOUND', 'TOO_LARGE', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
      example: one,
      parameters: [{ name: 'id', description: `Id of the ${noun}.` }],
      answer: { status: 204, description: 'It is deleted.', headers: ['X-Sluice-Revision', 'Warning'] },
    })
    async remove(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      send(reply, await this.#resources.remove(kind, id, requestOf(request)));
    }
  }
  return CrudController;
}
