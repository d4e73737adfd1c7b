// `POST /explain`.

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ExplainRequest, Explanation } from '../../model/answers/explanation.ts';
import { StreamExplanation } from '../../model/answers/stream-explanation.ts';
import { either, object } from '../../model/json-type.ts';
import { requestOf, send } from '../http-exchange.ts';
import { Operation } from '../operation.ts';
import { ExplainService } from './explain.service.ts';

@ApiTags('explain')
@Controller('api/v1')
export class ExplainController {
  readonly #service: ExplainService;

  constructor(@Inject(ExplainService) service: ExplainService) {
    this.#service = service;
  }

  @Operation({
    id: 'explainRequest',
    method: 'POST',
    path: '/explain',
    summary: 'Explain which route serves a request',
    description:
      'Says which entry of the routing table wins, what kept the others from it, which middlewares run and what ' +
      'becomes of the request, by the code that serves traffic. Nothing is sent anywhere. Values of secrets are shown ' +
      'as `***` unless the role admin asks for `secrets=resolved`. Where `listener` names one of protocol tcp, a ' +
      'connection is explained by its `sni` and `clientIp`, and nothing else of the request counts.',
    right: 'read',
    query: ['fieldValidation', 'consistency', 'minRevision', 'secrets'],
    errors: ['INVALID', 'NOT_FOUND', 'TOO_LARGE', 'UNAVAILABLE'],
    example: { body: { url: 'http://127.0.0.1:8081/v1/shop', snapshot: 'staged' } },
    body: { of: ExplainRequest, required: true },
    answer: {
      status: 200,
      description: 'The explanation.',
      of: either(object(Explanation), object(StreamExplanation)),
      headers: ['X-Sluice-Revision', 'Warning'],
    },
  })
  async explain(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.explain(requestOf(request)));
  }
}
