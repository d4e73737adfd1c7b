// `/healthz` and `/readyz`: ok or not ok, and whether storage is the reason, for load balancers without a key (architecture.md §6.21). They
// answer under `/api/v1` too, where a client that was generated from the document looks for them, as any path there with a
// key when keys are configured.

import { Controller, Inject, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { SluiceError } from '../errors.ts';
import { Health } from '../model/answers/error-answers.ts';
import { send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { Readiness } from './readiness-page.ts';

const keyNeeded = 'API keys are configured and the request carries none of them; at the root none is needed.';

@ApiTags('health')
@Controller(['', 'api/v1'])
export class HealthController {
  readonly #readiness: Readiness;

  constructor(@Inject(Readiness) readiness: Readiness) {
    this.#readiness = readiness;
  }

  @Operation({
    id: 'getHealth',
    method: 'GET',
    path: '/healthz',
    summary: 'Ask whether the process lives',
    right: 'identify',
    refusals: { UNAUTHENTICATED: keyNeeded },
    answer: { status: 200, description: 'It does.', of: Health },
  })
  alive(@Res() reply: FastifyReply): void {
    send(reply, ok);
  }

  @Operation({
    id: 'getReadiness',
    method: 'GET',
    path: '/readyz',
    summary: 'Ask whether the node takes reads and writes',
    right: 'identify',
    errors: ['UNAVAILABLE'],
    refusals: {
      UNAUTHENTICATED: keyNeeded,
      UNAVAILABLE: 'Not yet, no more, or not while the store cannot be written (`not ready: storage waits`).',
    },
    answer: { status: 200, description: 'It does.', of: Health },
  })
  ready(@Res() reply: FastifyReply): void {
    if (!this.#readiness.ready) throw new SluiceError('UNAVAILABLE', this.#readiness.reason);
    send(reply, ok);
  }
}

const ok = { status: 200, headers: {}, body: '{"status":"ok"}' };
