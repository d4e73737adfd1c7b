// `/healthz` and `/readyz`: ok or not ok, and whether storage is the reason, for load balancers without a key (architecture.md §6.21). They
// answer under `/api/v1` too, where a client that was generated from the document looks for them, as any path there with a
// key when keys are configured.
import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { SluiceError } from '../errors.ts';
import { send } from '../resources/http-exchange.ts';
import { schemaRef } from '../resources/operation.ts';
import { Readiness } from './readiness-page.ts';

const keyNeeded = 'API keys are configured and the request carries none of them; at the root none is needed.';

@ApiTags('health')
@Controller(['', 'api/v1'])
export class HealthController {
  readonly #readiness: Readiness;

  constructor(@Inject(Readiness) readiness: Readiness) {
    this.#readiness = readiness;
  }

  @Get('healthz')
  @ApiSecurity('apiKey')
  @ApiResponse({ status: 401, description: keyNeeded, schema: schemaRef('Error') })
  @ApiOperation({ operationId: 'getHealth', summary: 'Ask whether the process lives' })
  @ApiResponse({ status: 200, description: 'It does.', schema: schemaRef('Health') })
  alive(@Res() reply: FastifyReply): void {
    send(reply, ok);
  }

  @Get('readyz')
  @ApiSecurity('apiKey')
  @ApiResponse({ status: 401, description: keyNeeded, schema: schemaRef('Error') })
  @ApiOperation({ operationId: 'getReadiness', summary: 'Ask whether the node takes reads and writes' })
  @ApiResponse({ status: 200, description: 'It does.', schema: schemaRef('Health') })
  @ApiResponse({
    status: 503,
    description: 'Not yet, no more, or not while the store cannot be written (`not ready: storage waits`).',
    schema: schemaRef('Error'),
  })
  ready(@Res() reply: FastifyReply): void {
    if (!this.#readiness.ready) throw new SluiceError('UNAVAILABLE', this.#readiness.reason);
    send(reply, ok);
  }
}

const ok = { status: 200, headers: {}, body: '{"status":"ok"}' };
