// Operations on endpoints: their state, and drains (contract.md §3.8).

import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../errors.ts';
import { DestinationState, EndpointDrain } from '../model/answers/endpoint-answers.ts';
import { list, object } from '../model/json-type.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { textOf } from '../resources/query.ts';
import { EndpointOperations } from './endpoint-operations.ts';

const byId = { name: 'id', description: 'Id of the destination.' } as const;
const byName = {
  name: 'endpoint',
  description: '`host:port` of the endpoint, as `GET` shows it.',
} as const;

@ApiTags('endpoints')
@Controller('api/v1')
export class EndpointsController {
  readonly #endpoints: EndpointOperations;

  constructor(@Inject(EndpointOperations) endpoints: EndpointOperations) {
    this.#endpoints = endpoints;
  }

  @Operation({
    id: 'listEndpoints',
    method: 'GET',
    path: '/endpoints',
    summary: 'List endpoints by their state',
    description: 'Active destinations as the proxy of this node sees them, at most 1,000.',
    right: 'read',
    errors: ['INVALID'],
    query: ['state'],
    answer: { status: 200, description: 'The destinations.', of: list(object(DestinationState)) },
  })
  list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const state = textOf(requestOf(request), 'state') ?? 'any';
    if (state !== 'any' && state !== 'unavailable')
      throw new SluiceError('INVALID', 'state must be one of any, unavailable');
    send(reply, this.#endpoints.list(state === 'any'));
  }

  @Operation({
    id: 'getEndpoints',
    method: 'GET',
    path: '/destinations/:id/endpoints',
    summary: 'Read the endpoints of a destination',
    description: 'State of the endpoints of an active destination, as the proxy of this node sees it.',
    right: 'read',
    errors: ['NOT_FOUND'],
    example: { path: { id: 'backend' } },
    parameters: [byId],
    answer: { status: 200, description: 'The endpoints.', of: DestinationState },
  })
  read(@Param('id') id: string, @Res() reply: FastifyReply): void {
    send(reply, this.#endpoints.read(id));
  }

  @Operation({
    id: 'drainEndpoint',
    method: 'POST',
    path: '/destinations/:id/endpoints/:endpoint/drain',
    summary: 'Drain an endpoint',
    description:
      'No proxy of the fleet sends it new requests from now on; requests under way finish. It lasts over activations and ' +
      'restarts until it is undone, and is no part of the configuration.',
    right: 'write',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: ['INVALID', 'NOT_FOUND', 'CONFLICT', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    example: { path: { id: 'backend', endpoint: '127.0.0.1:9000' } },
    parameters: [byId, byName],
    answer: {
      status: 200,
      description: 'It is drained.',
      of: EndpointDrain,
      headers: ['X-Sluice-Revision', 'Warning'],
    },
  })
  async drain(
    @Param('id') destinationId: string,
    @Param('endpoint') endpoint: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.#endpoints.drain({ destinationId, endpoint }, true, requestOf(request)));
  }

  @Operation({
    id: 'undoDrain',
    method: 'DELETE',
    path: '/destinations/:id/endpoints/:endpoint/drain',
    summary: 'Undo the drain of an endpoint',
    right: 'write',
    query: ['fieldValidation'],
    errors: ['INVALID', 'NOT_FOUND', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    example: { path: { id: 'backend', endpoint: '127.0.0.1:9000' } },
    parameters: [byId, byName],
    answer: {
      status: 200,
      description: 'It is drained no more.',
      of: EndpointDrain,
      headers: ['X-Sluice-Revision', 'Warning'],
    },
  })
  async undo(
    @Param('id') destinationId: string,
    @Param('endpoint') endpoint: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.#endpoints.drain({ destinationId, endpoint }, false, requestOf(request)));
  }
}
