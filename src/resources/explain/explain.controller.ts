// `POST /explain`.
import { Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestOf, send } from '../http-exchange.ts';
import { Operation, Success, schemaRef } from '../operation.ts';
import { ExplainService } from './explain.service.ts';

@ApiTags('explain')
@Controller('api/v1/explain')
export class ExplainController {
  readonly #service: ExplainService;

  constructor(@Inject(ExplainService) service: ExplainService) {
    this.#service = service;
  }

  @Post()
  @HttpCode(200)
  @Operation({
    id: 'explainRequest',
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
  })
  @ApiBody({ schema: schemaRef('ExplainRequest'), required: true })
  @Success(200, 'The explanation.', { oneOf: [schemaRef('Explanation'), schemaRef('StreamExplanation')] }, [
    'X-Sluice-Revision',
    'Warning',
  ])
  async explain(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#service.explain(requestOf(request)));
  }
}
