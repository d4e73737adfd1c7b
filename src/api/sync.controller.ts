// Operations for other nodes and proxies: the stream of activations, the relay of writes (contract.md §4.1,
// architecture.md §8), and state hashes for the comparison of nodes.
import { Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../errors.ts';
import { SnapshotStreams } from '../feed/sse.ts';
import { send } from '../resources/http-exchange.ts';
import { Operation, Success, schemaRef } from '../resources/operation.ts';
import { PeerRoutes } from './peer-routes.ts';

@ApiTags('sync')
@Controller(['sync', 'api/v1/sync'])
export class SyncController {
  readonly #streams: SnapshotStreams;
  readonly #relay: PeerRoutes;

  constructor(@Inject(SnapshotStreams) streams: SnapshotStreams, @Inject(PeerRoutes) relay: PeerRoutes) {
    this.#streams = streams;
    this.#relay = relay;
  }

  @Get('snapshot')
  @Operation({
    id: 'followActivations',
    summary: 'Follow activations',
    description:
      'An event stream that stays open: the active snapshot at once, then one event `snapshot` per activation. ' +
      'The event id is the log index of the activation; the data is the snapshot with every reference resolved.',
    right: 'follow',
    errors: ['UNAVAILABLE'],
  })
  @ApiResponse({
    status: 200,
    description: 'The stream.',
    headers: {
      'X-Sluice-Cluster': { description: 'Id of the cluster that numbers the events.', schema: { type: 'string' } },
      'X-Sluice-Node': {
        description: 'The node that serves the stream, percent-encoded; only for those who introduce themselves.',
        schema: { type: 'string' },
      },
      'X-Sluice-Ack': {
        description: 'Names the stream in acknowledgements; only as above.',
        schema: { type: 'string' },
      },
    },
    content: { 'text/event-stream': { schema: { type: 'string', description: 'Server-sent events.' } } },
  })
  follow(@Res() reply: FastifyReply): void {
    const { refusal } = this.#streams;
    if (refusal !== undefined) throw new SluiceError('UNAVAILABLE', refusal);
    reply.hijack();
    this.#streams.attach(reply.raw);
  }

  @Post('raft')
  @Operation({
    id: 'relayWrite',
    summary: 'Relay a write to the leader',
    description: 'Between the nodes of one cluster, which prove themselves by the cluster token; no client needs it.',
    right: 'relay',
    errors: ['INVALID', 'TOO_LARGE', 'NOT_LEADER', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
  })
  @ApiBody({ schema: schemaRef('RelayedWrite'), required: true })
  @Success(200, 'It is applied; a refusal of the state machine is a result too.', schemaRef('RelayedResult'), [])
  async relay(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#relay.take(request));
  }

  @Post('raft/large')
  @HttpCode(200)
  @Operation({
    id: 'relayLargeWrite',
    summary: 'Relay a large write to the leader',
    description:
      'Between the nodes of one cluster: one line of JSON as in `POST /sync/raft`, without `command`, and behind it the ' +
      'bytes of the command. No client needs it.',
    right: 'relay',
    errors: ['INVALID', 'TOO_LARGE', 'NOT_LEADER', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
  })
  @ApiBody({ schema: { type: 'string', format: 'binary' }, required: true })
  @Success(200, 'It is applied; a refusal of the state machine is a result too.', schemaRef('RelayedResult'), [])
  async relayLarge(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#relay.takeLarge(request));
  }

  @Post('state-hash')
  @HttpCode(200)
  @Operation({
    id: 'compareState',
    summary: 'Compare the state of two nodes',
    description: 'Between the nodes of one cluster: what was applied alike must be alike. No client needs it.',
    right: 'relay',
    errors: ['INVALID', 'TOO_LARGE', 'UNAVAILABLE'],
  })
  @ApiBody({ schema: schemaRef('StateQuestion'), required: true })
  @Success(200, 'Hashes of the state at the indexes where batches ended lately.', schemaRef('StateHashes'), [])
  async hashes(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#relay.hashes(request));
  }

  @Post('fleet')
  @HttpCode(200)
  @Operation({
    id: 'askAboutFleet',
    summary: 'Ask a node about its proxies',
    description: 'Between the nodes of one cluster: each knows the proxies whose streams it holds. No client needs it.',
    right: 'relay',
    errors: ['INVALID', 'TOO_LARGE', 'UNAVAILABLE'],
  })
  @ApiBody({ schema: schemaRef('FleetQuestion'), required: true })
  @Success(200, 'What it knows.', schemaRef('FleetAnswer'), [])
  async fleet(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#relay.peers(request));
  }
}
