// Operations for other nodes and proxies: the stream of activations, the relay of writes (contract.md §4.1,
// architecture.md §8), and state hashes for the comparison of nodes.

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../errors.ts';
import { SnapshotStreams } from '../feed/sse.ts';
import {
  FleetAnswer,
  FleetQuestion,
  RelayedResult,
  RelayedWrite,
  StateHashes,
  StateQuestion,
} from '../model/answers/member-messages.ts';
import { limited, text } from '../model/json-type.ts';
import { send } from '../resources/http-exchange.ts';
import { eventStream, Operation } from '../resources/operation.ts';
import { PeerRoutes } from './peer-routes.ts';

@ApiTags('sync')
@Controller(['', 'api/v1'])
export class SyncController {
  readonly #streams: SnapshotStreams;
  readonly #relay: PeerRoutes;

  constructor(@Inject(SnapshotStreams) streams: SnapshotStreams, @Inject(PeerRoutes) relay: PeerRoutes) {
    this.#streams = streams;
    this.#relay = relay;
  }

  @Operation({
    id: 'followActivations',
    method: 'GET',
    path: '/sync/snapshot',
    summary: 'Follow activations',
    description:
      'An event stream that stays open: the active snapshot at once, then one event `snapshot` per activation. ' +
      'The event id is the log index of the activation; the data is the snapshot with every reference resolved.',
    right: 'follow',
    errors: ['UNAVAILABLE'],
    answer: {
      status: 200,
      description: 'The stream.',
      media: eventStream,
      headers: ['X-Sluice-Cluster', 'X-Sluice-Node', 'X-Sluice-Ack'],
    },
  })
  follow(@Res() reply: FastifyReply): void {
    const { refusal } = this.#streams;
    if (refusal !== undefined) throw new SluiceError('UNAVAILABLE', refusal);
    reply.hijack();
    this.#streams.attach(reply.raw);
  }

  @Operation({
    id: 'relayWrite',
    method: 'POST',
    path: '/sync/raft',
    summary: 'Relay a write to the leader',
    description: 'Between the nodes of one cluster, which prove themselves by the cluster token; no client needs it.',
    right: 'relay',
    errors: ['INVALID', 'TOO_LARGE', 'NOT_LEADER', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    body: { of: RelayedWrite, required: true },
    answer: {
      status: 200,
      description: 'It is applied; a refusal of the state machine is a result too.',
      of: RelayedResult,
    },
  })
  async relay(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#relay.take(request));
  }

  @Operation({
    id: 'relayLargeWrite',
    method: 'POST',
    path: '/sync/raft/large',
    summary: 'Relay a large write to the leader',
    description:
      'Between the nodes of one cluster: one line of JSON as in `POST /sync/raft`, without `command`, and behind it the ' +
      'bytes of the command. No client needs it.',
    right: 'relay',
    errors: ['INVALID', 'TOO_LARGE', 'NOT_LEADER', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    body: { of: limited(text, { format: 'binary' }), required: true },
    answer: {
      status: 200,
      description: 'It is applied; a refusal of the state machine is a result too.',
      of: RelayedResult,
    },
  })
  async relayLarge(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#relay.takeLarge(request));
  }

  @Operation({
    id: 'compareState',
    method: 'POST',
    path: '/sync/state-hash',
    summary: 'Compare the state of two nodes',
    description: 'Between the nodes of one cluster: what was applied alike must be alike. No client needs it.',
    right: 'relay',
    errors: ['INVALID', 'TOO_LARGE', 'UNAVAILABLE'],
    body: { of: StateQuestion, required: true },
    answer: {
      status: 200,
      description: 'Hashes of the state at the indexes where batches ended lately.',
      of: StateHashes,
    },
  })
  async hashes(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#relay.hashes(request));
  }

  @Operation({
    id: 'askAboutFleet',
    method: 'POST',
    path: '/sync/fleet',
    summary: 'Ask a node about its proxies',
    description: 'Between the nodes of one cluster: each knows the proxies whose streams it holds. No client needs it.',
    right: 'relay',
    errors: ['INVALID', 'TOO_LARGE', 'UNAVAILABLE'],
    body: { of: FleetQuestion, required: true },
    answer: { status: 200, description: 'What it knows.', of: FleetAnswer },
  })
  async fleet(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#relay.peers(request));
  }
}
