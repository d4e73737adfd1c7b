// Operations on the fleet: the list of proxies (fleet.md §5), and their reports (§4).
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestOf, send } from '../resources/http-exchange.ts';
import { live } from '../resources/live-ids.ts';
import { Gone, Operation, Success, schemaRef } from '../resources/operation.ts';
import { FleetOperations } from './fleet-operations.ts';

const byId = { name: 'id', description: 'Id of the proxy.', schema: { type: 'string' } } as const;

@ApiTags('fleet')
@Controller('api/v1/fleet')
export class FleetController {
  readonly #fleet: FleetOperations;

  constructor(@Inject(FleetOperations) fleet: FleetOperations) {
    this.#fleet = fleet;
  }

  @Get()
  @Operation({
    id: 'getFleet',
    summary: 'List the proxies',
    description:
      'All proxies of the cluster, those within its nodes included: what each has installed, what it should have, and what ' +
      'is wrong. Nodes that do not answer within a second are named.',
    right: 'read',
  })
  @Success(200, 'The fleet.', schemaRef('Fleet'), [])
  async list(@Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.list());
  }

  @Get(':id')
  @Operation({
    id: 'getProxy',
    summary: 'Read a proxy',
    right: 'read',
    errors: ['NOT_FOUND'],
    example: { path: { id: live('node') } },
  })
  @ApiParam(byId)
  @Success(200, 'The proxy.', schemaRef('FleetProxy'), [])
  async get(@Param('id') id: string, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.get(id));
  }

  @Delete(':id')
  @Operation({
    id: 'forgetProxy',
    summary: 'Forget a proxy',
    description: 'One that has left is listed for 24 hours, or until this.',
    right: 'write',
    errors: ['NOT_FOUND', 'CONFLICT'],
    example: { path: { id: 'edge-1' } },
  })
  @ApiParam(byId)
  @Gone('It is listed no more.', [])
  async forget(@Param('id') id: string, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.forget(id));
  }
}

@ApiTags('sync')
@Controller(['sync', 'api/v1/sync'])
export class FleetMessagesController {
  readonly #fleet: FleetOperations;

  constructor(@Inject(FleetOperations) fleet: FleetOperations) {
    this.#fleet = fleet;
  }

  @Post('ack')
  @HttpCode(204)
  @Operation({
    id: 'acknowledge',
    summary: 'Acknowledge a configuration',
    description: 'A proxy says what it has installed or refused. Any node takes it; 409 asks to open the stream anew.',
    right: 'follow',
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE'],
  })
  @ApiBody({ schema: schemaRef('Acknowledgement'), required: true })
  @Gone('It is known.', ['Warning'])
  async acknowledge(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.acknowledge(requestOf(request)));
  }

  @Post('report')
  @HttpCode(204)
  @Operation({
    id: 'reportTraffic',
    summary: 'Report traffic',
    description: 'A proxy says what it has served since its last report. Any node takes it.',
    right: 'follow',
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE'],
  })
  @ApiBody({ schema: schemaRef('TrafficReport'), required: true })
  @Gone('It is known.', ['Warning'])
  async report(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.report(requestOf(request)));
  }

  @Post('answer')
  @HttpCode(204)
  @Operation({
    id: 'answerQuestion',
    summary: 'Answer a question',
    description:
      'A proxy answers event `ask` of its stream, with a page of its recorded requests. Any node takes it; an answer that ' +
      'comes too late is dropped.',
    right: 'follow',
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE'],
  })
  @ApiBody({ schema: schemaRef('ProxyAnswer'), required: true })
  @Gone('It is known.', ['Warning'])
  async answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.answered(requestOf(request)));
  }

  @Post('leases')
  @HttpCode(200)
  @Operation({
    id: 'reportLeases',
    summary: 'Report leases of rate limits',
    description:
      'A proxy says which parts it holds of the budgets of rate limits that the cluster shares, and learns which it holds ' +
      'from then on. Any node takes it; 409 asks to open the stream anew.',
    right: 'follow',
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE'],
  })
  @ApiBody({ schema: schemaRef('LeaseReport'), required: true })
  @Success(200, 'The parts that it holds from then on.', schemaRef('LeaseReply'), ['Warning'])
  async leases(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.leases(requestOf(request)));
  }
}
