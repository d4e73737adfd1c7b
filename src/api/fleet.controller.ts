// Operations on the fleet: the list of proxies (fleet.md §5), and their reports (§4).

import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FleetView, ProxyView } from '../model/answers/fleet-answers.ts';
import { LeaseMessage, LeaseReply } from '../model/answers/lease-answers.ts';
import { SentAcknowledgement, SentAnswer, SentReport } from '../model/answers/proxy-messages.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { live } from '../resources/live-ids.ts';
import { Operation } from '../resources/operation.ts';
import { FleetOperations } from './fleet-operations.ts';

const byId = { name: 'id', description: 'Id of the proxy.' } as const;

@ApiTags('fleet')
@Controller('api/v1')
export class FleetController {
  readonly #fleet: FleetOperations;

  constructor(@Inject(FleetOperations) fleet: FleetOperations) {
    this.#fleet = fleet;
  }

  @Operation({
    id: 'getFleet',
    method: 'GET',
    path: '/fleet',
    summary: 'List the proxies',
    description:
      'All proxies of the cluster, those within its nodes included: what each has installed, what it should have, and what ' +
      'is wrong. Nodes that do not answer within a second are named.',
    right: 'read',
    answer: { status: 200, description: 'The fleet.', of: FleetView },
  })
  async list(@Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.list());
  }

  @Operation({
    id: 'getProxy',
    method: 'GET',
    path: '/fleet/:id',
    summary: 'Read a proxy',
    right: 'read',
    errors: ['NOT_FOUND'],
    example: { path: { id: live('node') } },
    parameters: [byId],
    answer: { status: 200, description: 'The proxy.', of: ProxyView },
  })
  async get(@Param('id') id: string, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.get(id));
  }

  @Operation({
    id: 'forgetProxy',
    method: 'DELETE',
    path: '/fleet/:id',
    summary: 'Forget a proxy',
    description: 'One that has left is listed for 24 hours, or until this.',
    right: 'write',
    query: ['fieldValidation'],
    errors: ['NOT_FOUND', 'CONFLICT'],
    example: { path: { id: 'edge-1' } },
    parameters: [byId],
    answer: { status: 204, description: 'It is listed no more.', headers: ['Warning'] },
  })
  async forget(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.forget(id, requestOf(request)));
  }
}

@ApiTags('sync')
@Controller(['', 'api/v1'])
export class FleetMessagesController {
  readonly #fleet: FleetOperations;

  constructor(@Inject(FleetOperations) fleet: FleetOperations) {
    this.#fleet = fleet;
  }

  @Operation({
    id: 'acknowledge',
    method: 'POST',
    path: '/sync/ack',
    summary: 'Acknowledge a configuration',
    description: 'A proxy says what it has installed or refused. Any node takes it; 409 asks to open the stream anew.',
    right: 'follow',
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE'],
    body: { of: SentAcknowledgement, required: true },
    answer: { status: 204, description: 'It is known.', headers: ['Warning'] },
  })
  async acknowledge(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.acknowledge(requestOf(request)));
  }

  @Operation({
    id: 'reportTraffic',
    method: 'POST',
    path: '/sync/report',
    summary: 'Report traffic',
    description: 'A proxy says what it has served since its last report. Any node takes it.',
    right: 'follow',
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE'],
    body: { of: SentReport, required: true },
    answer: { status: 204, description: 'It is known.', headers: ['Warning'] },
  })
  async report(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.report(requestOf(request)));
  }

  @Operation({
    id: 'answerQuestion',
    method: 'POST',
    path: '/sync/answer',
    summary: 'Answer a question',
    description:
      'A proxy answers event `ask` of its stream, with a page of its recorded requests. Any node takes it; an answer that ' +
      'comes too late is dropped.',
    right: 'follow',
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE'],
    body: { of: SentAnswer, required: true },
    answer: { status: 204, description: 'It is known.', headers: ['Warning'] },
  })
  async answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.answered(requestOf(request)));
  }

  @Operation({
    id: 'reportLeases',
    method: 'POST',
    path: '/sync/leases',
    summary: 'Report leases of rate limits',
    description:
      'A proxy says which parts it holds of the budgets of rate limits that the cluster shares, and learns which it holds ' +
      'from then on. Any node takes it; 409 asks to open the stream anew.',
    right: 'follow',
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE'],
    body: { of: LeaseMessage, required: true },
    answer: { status: 200, description: 'The parts that it holds from then on.', of: LeaseReply, headers: ['Warning'] },
  })
  async leases(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.leases(requestOf(request)));
  }
}
