// Recent requests of the proxy of this node, and those that go through it now.

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ShownRequests } from '../model/answers/request-answers.ts';
import { RecentRequests } from '../request-log/request-log.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { eventStream, Operation } from '../resources/operation.ts';
import { limitTextOf, textOf } from '../resources/query.ts';

@ApiTags('requests')
@Controller('api/v1')
export class RequestsController {
  readonly #recent: RecentRequests;

  constructor(@Inject(RecentRequests) recent: RecentRequests) {
    this.#recent = recent;
  }

  @Operation({
    id: 'listRequests',
    method: 'GET',
    path: '/requests',
    summary: 'List recent requests',
    description:
      'Requests that the proxy of this node has answered, the last one first: all of them while there are few, a random ' +
      'share when there are many; `sampling` says which, and `oneIn` for how many each stands. Of headers and ' +
      'queries the values are kept that `telemetry.recentRequestHeaders` and `telemetry.recentRequestQuery` list.',
    right: 'read',
    errors: ['INVALID'],
    query: ['limit', 'where'],
    answer: { status: 200, description: 'The requests.', of: ShownRequests },
  })
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const asked = requestOf(request);
    const body = await this.#recent.list(limitTextOf(asked), textOf(asked, 'where'));
    send(reply, { status: 200, headers: {}, body });
  }

  @Operation({
    id: 'followRequests',
    method: 'GET',
    path: '/requests/stream',
    summary: 'Follow requests live',
    description:
      'An event stream that stays open. Event `request` holds one as `GET /requests` shows it; `sampling` says when another ' +
      'share is kept; `dropped` says how many passed by because the reader, or this node, was too slow.',
    right: 'read',
    errors: ['INVALID', 'UNAVAILABLE'],
    query: ['where'],
    answer: {
      status: 200,
      description: 'The stream.',
      media: eventStream,
    },
  })
  follow(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const passes = this.#recent.streams.admit(textOf(requestOf(request), 'where'));
    reply.hijack();
    this.#recent.streams.attach(reply.raw, passes);
  }
}
