// The one factory behind every kind that is edited, secrets among them: five operations each,
// the same order of checks, the same headers. A kind's module names its kind and its schema and is done.
import { Controller, Delete, Get, Inject, Param, Post, Put, Req, Res, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { editableClasses } from '../model/config-classes.ts';
import { type EditableKind, nounOf } from '../model/kinds.ts';
import { requestOf, send } from './http-exchange.ts';
import { Gone, Operation, refusalsOfChange, Success, schemaRef } from './operation.ts';
import { ResourceService } from './resource.service.ts';

/** @param model class of src/model that holds the kind's schema. */
export function crudController(kind: EditableKind, model: Type<unknown>): Type<unknown> {
  const noun = nounOf(kind);
  const Noun = noun.charAt(0).toUpperCase() + noun.slice(1);
  const isSecret = kind === 'secrets';
  const entity = schemaRef(model.name);
  const shown = isSecret ? schemaRef('SecretSummary') : entity;
  const { example } = editableClasses[kind];
  const one = { path: { id: example.id } };
  const examples = { working: { summary: `A ${noun} that works`, value: example } };

  @ApiTags(kind)
  @ApiExtraModels(model)
  @Controller(`api/v1/${kind}`)
  class CrudController {
    readonly #resources: ResourceService;

    constructor(@Inject(ResourceService) resources: ResourceService) {
      this.#resources = resources;
    }

    @Get()
    @Operation({
      id: `list${Noun}s`,
      summary: `List ${kind}`,
      description: isSecret ? 'Ascending by id, with values only for `secrets=resolved`.' : 'Ascending by id.',
      right: 'read',
      query: ['owner', 'label', 'secrets', 'consistency', 'minRevision'],
      errors: ['INVALID', 'UNAVAILABLE'],
    })
    @Success(200, `All ${kind}.`, { type: 'array', items: shown }, ['X-Sluice-Revision'])
    async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      send(reply, await this.#resources.list(kind, requestOf(request)));
    }

    @Post()
    @Operation({
      id: `create${Noun}`,
      summary: `Create a ${noun}`,
      description: 'Staged until a snapshot of it is activated. The id is assigned unless the body brings one.',
      right: 'write',
      headers: ['Idempotency-Key'],
      query: ['fieldValidation'],
      errors: refusalsOfChange,
    })
    @ApiBody({ schema: entity, required: true, examples })
    @Success(201, `The created ${noun}.`, shown, ['ETag', 'Location', 'X-Sluice-Revision', 'Warning'])
    async create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      send(reply, await this.#resources.create(kind, requestOf(request)));
    }

    @Get(':id')
    @Operation({
      id: `get${Noun}`,
      summary: isSecret ? 'Read the value of a secret' : `Read a ${noun}`,
      right: isSecret ? 'administer' : 'read',
      query: ['consistency', 'minRevision'],
      errors: ['INVALID', 'NOT_FOUND', 'UNAVAILABLE'],
      example: one,
    })
    @ApiParam({ name: 'id', description: `Id of the ${noun}.`, schema: { type: 'string' } })
    @Success(200, `The ${noun}.`, entity, ['ETag', 'X-Sluice-Revision'])
    async get(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      send(reply, await this.#resources.get(kind, id, requestOf(request)));
    }

    @Put(':id')
    @Operation({
      id: `update${Noun}`,
      summary: `Update a ${noun}`,
      description:
        'Replaces the whole resource, but for owner and labels where the body has none. Staged until a snapshot of it ' +
        'is activated.',
      right: 'write',
      headers: ['If-Match'],
      query: ['fieldValidation', 'override'],
      errors: refusalsOfChange,
      example: one,
    })
    @ApiParam({
      name: 'id',
      description: `Id of the ${noun}; an id in the body is ignored.`,
      schema: { type: 'string' },
    })
    @ApiBody({ schema: entity, required: true, examples })
    @Success(200, `The stored ${noun}.`, shown, ['ETag', 'X-Sluice-Revision', 'Warning'])
    async replace(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      send(reply, await this.#resources.replace(kind, id, requestOf(request)));
    }

    @Delete(':id')
    @Operation({
      id: `delete${Noun}`,
      summary: `Delete a ${noun}`,
      description: 'Always possible; what refers to it keeps the dangling id.',
      right: 'write',
      headers: ['If-Match'],
      query: ['override', 'fieldValidation'],
      errors: ['INVALID', 'NOT_FOUND', 'TOO_LARGE', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
      example: one,
    })
    @ApiParam({ name: 'id', description: `Id of the ${noun}.`, schema: { type: 'string' } })
    @Gone('It is deleted.', ['X-Sluice-Revision', 'Warning'])
    async remove(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      send(reply, await this.#resources.remove(kind, id, requestOf(request)));
    }
  }
  return CrudController;
}
