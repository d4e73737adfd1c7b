// Operations on the cluster (architecture.md §8): members, their state, and changes of the membership.
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Gone, Operation, Success, schemaRef } from '../resources/operation.ts';
import { ClusterOperations, type ClusterRequest } from './cluster-operations.ts';

const byNodeId = { name: 'nodeId', description: 'Name of the member.', schema: { type: 'string' } } as const;
const refusals = ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'] as const;

@ApiTags('cluster')
@Controller('api/v1/cluster')
export class ClusterController {
  readonly #cluster: ClusterOperations;

  constructor(@Inject(ClusterOperations) cluster: ClusterOperations) {
    this.#cluster = cluster;
  }

  @Get()
  @Operation({
    id: 'getCluster',
    summary: 'Read the cluster',
    description: 'Members, roles, term, indexes, lag and health, as the leader knows them.',
    right: 'read',
    errors: ['UNAVAILABLE'],
  })
  @Success(200, 'The cluster.', schemaRef('Cluster'), [])
  async overview(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#cluster.overview(clusterRequest('GET', request)));
  }

  @Post('members')
  @Operation({
    id: 'addMember',
    summary: 'Add a member',
    description: 'A started node that waits for this cluster becomes a learner: it follows and does not vote.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: refusals,
    example: { body: { nodeId: 'node-4', address: '10.0.0.4:7000' } },
  })
  @ApiBody({ schema: schemaRef('MemberRequest'), required: true })
  @Success(201, 'The learner.', schemaRef('Member'), ['Warning'])
  async add(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#cluster.add(clusterRequest('POST', request)));
  }

  @Post('members/:nodeId/promote')
  @HttpCode(200)
  @Operation({
    id: 'promoteMember',
    summary: 'Promote a member',
    description: 'A learner that has caught up votes from now on.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: [...refusals, 'NOT_FOUND'],
    example: { path: { nodeId: 'node-4' } },
  })
  @ApiParam(byNodeId)
  @Success(200, 'The voter.', schemaRef('Member'), ['Warning'])
  async promote(
    @Param('nodeId') nodeId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.#cluster.promote(nodeId, clusterRequest('POST', request)));
  }

  @Post('members/:nodeId/replace')
  @HttpCode(200)
  @Operation({
    id: 'replaceMember',
    summary: 'Replace a member',
    description: 'In one step a learner votes in the place of this voter, which leaves. Both may have the same name.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: [...refusals, 'NOT_FOUND'],
    example: { path: { nodeId: 'node-3' }, body: { by: 'node-4' } },
  })
  @ApiParam(byNodeId)
  @ApiBody({ schema: schemaRef('ReplacementRequest'), required: true })
  @Success(200, 'The new voter.', schemaRef('Member'), ['Warning'])
  async replace(
    @Param('nodeId') nodeId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.#cluster.replace(nodeId, clusterRequest('POST', request)));
  }

  @Delete('members/:nodeId')
  @Operation({
    id: 'removeMember',
    summary: 'Remove a member',
    description: 'Refused when the voters left that can be reached would be no quorum.',
    right: 'administer',
    query: ['force'],
    errors: [...refusals, 'NOT_FOUND'],
    example: { path: { nodeId: 'node-4' } },
  })
  @ApiParam(byNodeId)
  @Gone('It is no member any more.', [])
  async remove(
    @Param('nodeId') nodeId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.#cluster.remove(nodeId, clusterRequest('DELETE', request)));
  }

  @Get('backup')
  @Operation({
    id: 'getBackup',
    summary: 'Back up the cluster',
    description:
      'Everything acknowledged before the request, checked, in one file for `sluice restore`. Refused without encryption ' +
      'at rest, for secrets would be in it in plain text.',
    right: 'administer',
    errors: ['CONFLICT', 'UNAVAILABLE'],
  })
  @ApiResponse({
    status: 200,
    description: 'The backup.',
    content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
  })
  async backup(@Res() reply: FastifyReply): Promise<void> {
    const { file, name, index } = await this.#cluster.backup();
    reply
      .header('Cache-Control', 'no-store')
      .header('Content-Type', 'application/octet-stream')
      .header('Content-Disposition', `attachment; filename="${name}"`)
      .header('X-Sluice-Revision', String(index))
      .send(file);
  }

  @Post('transfer')
  @HttpCode(200)
  @Operation({
    id: 'transferLeadership',
    summary: 'Transfer leadership',
    description: 'To the voter named, or to the most up-to-date one. Answers when another node leads.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: [...refusals, 'NOT_FOUND'],
  })
  @ApiBody({ schema: schemaRef('TransferRequest'), required: false })
  @Success(200, 'Another node leads.', schemaRef('Leadership'), ['Warning'])
  async transfer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#cluster.transfer(clusterRequest('POST', request)));
  }
}

const clusterRequest = (method: ClusterRequest['method'], request: FastifyRequest): ClusterRequest => ({
  ...requestOf(request),
  method,
  target: request.raw.url ?? '',
});
