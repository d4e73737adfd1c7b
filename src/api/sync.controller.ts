// What other nodes and proxies ask: the stream of activations, and the relay of writes (contract.md §4.1, §5.4).
import { Controller, Get, Inject, Post, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { SluiceError } from '../errors.ts';
import { SnapshotStreams } from '../feed/sse.ts';
import { Operation } from '../resources/operation.ts';

@ApiTags('sync')
@Controller(['sync', 'api/v1/sync'])
export class SyncController {
  readonly #streams: SnapshotStreams;

  constructor(@Inject(SnapshotStreams) streams: SnapshotStreams) {
    this.#streams = streams;
  }

  @Get('snapshot')
  @Operation({
    id: 'followActivations',
    summary: 'Follow activations',
    description:
      'An event stream that stays open: the active snapshot at once, then one event `snapshot` per activation. ' +
      'The event id is the log index of the activation; the data is the snapshot with every reference resolved.',
    right: 'follow',
  })
  @ApiResponse({
    status: 200,
    description: 'The stream.',
    headers: {
      'X-Sluice-Cluster': { description: 'Id of the cluster that numbers the events.', schema: { type: 'string' } },
    },
    content: { 'text/event-stream': { schema: { type: 'string', description: 'Server-sent events.' } } },
  })
  follow(@Res() reply: FastifyReply): void {
    reply.hijack();
    this.#streams.attach(reply.raw);
  }

  @Post('raft')
  @Operation({
    id: 'relayWrite',
    summary: 'Relay a write to the leader',
    description: 'Between the nodes of one cluster; no client needs it.',
    right: 'relay',
    errors: ['TOO_LARGE', 'UNAVAILABLE'],
  })
  relay(): never {
    throw new SluiceError('UNAVAILABLE', 'cluster mode not active');
  }
}
