// `/healthz` and `/readyz`: ok or not ok and nothing else, for load balancers without a key (architecture.md §6.21). They
// answer under `/api/v1` too, where a client that was generated from the document looks for them.
import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { SluiceError } from '../errors.ts';
import { send } from '../resources/http-exchange.ts';
import { schemaRef } from '../resources/operation.ts';
import { Readiness } from './readiness.ts';

@ApiTags('health')
@Controller(['', 'api/v1'])
export class HealthController {
  readonly #readiness: Readiness;

  constructor(@Inject(Readiness) readiness: Readiness) {
    this.#readiness = readiness;
  }

  @Get('healthz')
  @ApiOperation({ operationId: 'getHealth', summary: 'Ask whether the process lives' })
  @ApiResponse({ status: 200, description: 'It does.', schema: schemaRef('Health') })
  alive(@Res() reply: FastifyReply): void {
    send(reply, ok);
  }

  @Get('readyz')
  @ApiOperation({ operationId: 'getReadiness', summary: 'Ask whether the node takes reads and writes' })
  @ApiResponse({ status: 200, description: 'It does.', schema: schemaRef('Health') })
  @ApiResponse({ status: 503, description: 'Not yet, or no more.', schema: schemaRef('Error') })
  ready(@Res() reply: FastifyReply): void {
    if (!this.#readiness.ready) throw new SluiceError('UNAVAILABLE', 'not ready');
    send(reply, ok);
  }
}

const ok = { status: 200, headers: {}, body: '{"status":"ok"}' };
