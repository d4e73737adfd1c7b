// Changes of the state, followed as one event stream (contract.md §3.6).
import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChangeStreams } from '../feed/change-streams.ts';
import { eventStream, Operation } from '../resources/operation.ts';

@ApiTags('events')
@Controller('api/v1')
export class EventsController {
  readonly #streams: ChangeStreams;

  constructor(@Inject(ChangeStreams) streams: ChangeStreams) {
    this.#streams = streams;
  }

  @Operation({
    id: 'followChanges',
    method: 'GET',
    path: '/events',
    summary: 'Follow changes of the state',
    description:
      'An event stream that stays open and says what has changed, by name and id, never with content. `staged`, ' +
      '`snapshots`, `active` and `rollout` have the log index of the change as their `id`; `members` and `fleet` the index ' +
      'that was applied last. A client that comes back with `Last-Event-ID` gets what it missed, on any node, or `reset` when ' +
      'that is not known here any more.',
    right: 'read',
    errors: ['UNAVAILABLE'],
    answer: {
      status: 200,
      description: 'The stream.',
      media: eventStream,
      headers: ['X-Sluice-Revision'],
    },
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: '`id` of the last event that was read; one that is not known here any more gives `reset`.',
  })
  follow(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.#streams.admit();
    const last = request.headers['last-event-id'];
    reply.hijack();
    this.#streams.attach(reply.raw, Array.isArray(last) ? last[0] : last);
  }
}
