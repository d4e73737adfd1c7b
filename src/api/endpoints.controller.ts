// Operations on endpoints: their state, and drains (contract.md §3.8).
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../errors.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation, Success, schemaRef } from '../resources/operation.ts';
import { textOf } from '../resources/query.ts';
import { EndpointOperations } from './endpoint-operations.ts';

const byId = { name: 'id', description: 'Id of the destination.', schema: { type: 'string' } } as const;
const byName = {
  name: 'endpoint',
  description: '`host:port` of the endpoint, as `GET` shows it.',
  schema: { type: 'string' },
} as const;

@ApiTags('endpoints')
@Controller('api/v1')
export class EndpointsController {
  readonly #endpoints: EndpointOperations;

  constructor(@Inject(EndpointOperations) endpoints: EndpointOperations) {
    this.#endpoints = endpoints;
  }

  @Get('endpoints')
  @Operation({
    id: 'listEndpoints',
    summary: 'List endpoints by their state',
    description: 'Active destinations as the proxy of this node sees them, at most 1,000.',
    right: 'read',
    errors: ['INVALID'],
    query: ['state'],
  })
  @Success(200, 'The destinations.', { type: 'array', items: schemaRef('DestinationState') }, [])
  list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const state = textOf(requestOf(request), 'state') ?? 'any';
    if (state !== 'any' && state !== 'unavailable')
      throw new SluiceError('INVALID', 'state must be one of any, unavailable');
    send(reply, this.#endpoints.list(state === 'any'));
  }

  @Get('destinations/:id/endpoints')
  @Operation({
    id: 'getEndpoints',
    summary: 'Read the endpoints of a destination',
    description: 'State of the endpoints of an active destination, as the proxy of this node sees it.',
    right: 'read',
    errors: ['NOT_FOUND'],
    example: { path: { id: 'backend' } },
  })
  @ApiParam(byId)
  @Success(200, 'The endpoints.', schemaRef('DestinationState'), [])
  read(@Param('id') id: string, @Res() reply: FastifyReply): void {
    send(reply, this.#endpoints.read(id));
  }

  @Post('destinations/:id/endpoints/:endpoint/drain')
  @HttpCode(200)
  @Operation({
    id: 'drainEndpoint',
    summary: 'Drain an endpoint',
    description:
      'No proxy of the fleet sends it new requests from now on; requests under way finish. It lasts over activations and ' +
      'restarts until it is undone, and is no part of the configuration.',
    right: 'write',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: ['INVALID', 'NOT_FOUND', 'CONFLICT', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    example: { path: { id: 'backend', endpoint: '127.0.0.1:9000' } },
  })
  @ApiParam(byId)
  @ApiParam(byName)
  @Success(200, 'It is drained.', schemaRef('EndpointDrain'), ['X-Sluice-Revision', 'Warning'])
  async drain(
    @Param('id') destinationId: string,
    @Param('endpoint') endpoint: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.#endpoints.drain({ destinationId, endpoint }, true, requestOf(request)));
  }

  @Delete('destinations/:id/endpoints/:endpoint/drain')
  @Operation({
    id: 'undoDrain',
    summary: 'Undo the drain of an endpoint',
    right: 'write',
    query: ['fieldValidation'],
    errors: ['INVALID', 'NOT_FOUND', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    example: { path: { id: 'backend', endpoint: '127.0.0.1:9000' } },
  })
  @ApiParam(byId)
  @ApiParam(byName)
  @Success(200, 'It is drained no more.', schemaRef('EndpointDrain'), ['X-Sluice-Revision', 'Warning'])
  async undo(
    @Param('id') destinationId: string,
    @Param('endpoint') endpoint: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.#endpoints.drain({ destinationId, endpoint }, false, requestOf(request)));
  }
}
