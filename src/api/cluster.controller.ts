// Operations on the cluster (architecture.md §8): members, their state, and changes of the membership.

import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  ClusterOverview,
  Leadership,
  MemberRequest,
  MemberView,
  ReplacementRequest,
  TransferRequest,
} from '../model/answers/cluster-answers.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { ClusterOperations, type ClusterRequest } from './cluster-operations.ts';

const byNodeId = { name: 'nodeId', description: 'Name of the member.' } as const;
const refusals = ['INVALID', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'] as const;

@ApiTags('cluster')
@Controller('api/v1')
export class ClusterController {
  readonly #cluster: ClusterOperations;

  constructor(@Inject(ClusterOperations) cluster: ClusterOperations) {
    this.#cluster = cluster;
  }

  @Operation({
    id: 'getCluster',
    method: 'GET',
    path: '/cluster',
    summary: 'Read the cluster',
    description: 'Members, roles, term, indexes, lag and health, as the leader knows them.',
    right: 'read',
    errors: ['UNAVAILABLE'],
    answer: { status: 200, description: 'The cluster.', of: ClusterOverview },
  })
  async overview(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#cluster.overview(clusterRequest('GET', request)));
  }

  @Operation({
    id: 'addMember',
    method: 'POST',
    path: '/cluster/members',
    summary: 'Add a member',
    description: 'A started node that waits for this cluster becomes a learner: it follows and does not vote.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: refusals,
    example: { body: { nodeId: 'node-4', address: '10.0.0.4:7000' } },
    body: { of: MemberRequest, required: true },
    answer: { status: 201, description: 'The learner.', of: MemberView, headers: ['Warning'] },
  })
  async add(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#cluster.add(clusterRequest('POST', request)));
  }

  @Operation({
    id: 'promoteMember',
    method: 'POST',
    path: '/cluster/members/:nodeId/promote',
    summary: 'Promote a member',
    description: 'A learner that has caught up votes from now on.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: [...refusals, 'NOT_FOUND'],
    example: { path: { nodeId: 'node-4' } },
    parameters: [byNodeId],
    answer: { status: 200, description: 'The voter.', of: MemberView, headers: ['Warning'] },
  })
  async promote(
    @Param('nodeId') nodeId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.#cluster.promote(nodeId, clusterRequest('POST', request)));
  }

  @Operation({
    id: 'replaceMember',
    method: 'POST',
    path: '/cluster/members/:nodeId/replace',
    summary: 'Replace a member',
    description: 'In one step a learner votes in the place of this voter, which leaves. Both may have the same name.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: [...refusals, 'NOT_FOUND'],
    example: { path: { nodeId: 'node-3' }, body: { by: 'node-4' } },
    parameters: [byNodeId],
    body: { of: ReplacementRequest, required: true },
    answer: { status: 200, description: 'The new voter.', of: MemberView, headers: ['Warning'] },
  })
  async replace(
    @Param('nodeId') nodeId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.#cluster.replace(nodeId, clusterRequest('POST', request)));
  }

  @Operation({
    id: 'removeMember',
    method: 'DELETE',
    path: '/cluster/members/:nodeId',
    summary: 'Remove a member',
    description: 'Refused when the voters left that can be reached would be no quorum.',
    right: 'administer',
    query: ['force', 'fieldValidation'],
    errors: [...refusals, 'NOT_FOUND'],
    example: { path: { nodeId: 'node-4' } },
    parameters: [byNodeId],
    answer: { status: 204, description: 'It is no member any more.', headers: ['Warning'] },
  })
  async remove(
    @Param('nodeId') nodeId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    send(reply, await this.#cluster.remove(nodeId, clusterRequest('DELETE', request)));
  }

  @Operation({
    id: 'getBackup',
    method: 'GET',
    path: '/cluster/backup',
    summary: 'Back up the cluster',
    description:
      'Everything acknowledged before the request, checked, in one file for `sluice restore`. Refused without encryption ' +
      'at rest, for secrets would be in it in plain text.',
    right: 'administer',
    errors: ['CONFLICT', 'UNAVAILABLE'],
    answer: {
      status: 200,
      description: 'The backup.',
      media: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    },
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

  @Operation({
    id: 'transferLeadership',
    method: 'POST',
    path: '/cluster/transfer',
    summary: 'Transfer leadership',
    description: 'To the voter named, or to the most up-to-date one. Answers when another node leads.',
    right: 'administer',
    query: ['fieldValidation'],
    errors: [...refusals, 'NOT_FOUND'],
    body: { of: TransferRequest, required: false },
    answer: { status: 200, description: 'Another node leads.', of: Leadership, headers: ['Warning'] },
  })
  async transfer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#cluster.transfer(clusterRequest('POST', request)));
  }
}

const clusterRequest = (method: ClusterRequest['method'], request: FastifyRequest): ClusterRequest => ({
  ...requestOf(request),
  method,
  target: request.raw.url ?? '',
});
