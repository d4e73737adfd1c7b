// Index of the API: where dashboard, documentation, health and metrics are.
// Says nothing of the configuration, and needs no key.
import { Controller, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';

/** Path of the index. The root leads to the dashboard. */
export const indexPath = '/api/v1';

const index = {
  name: 'Sluice',
  dashboard: '/ui/',
  api: '/api/v1',
  explorer: '/api/v1/docs/',
  document: '/api/v1/docs/doc.json',
  health: '/healthz',
  readiness: '/readyz',
  metrics: '/metrics',
};

@ApiExcludeController()
@Controller('api/v1')
export class IndexController {
  @Operation({ id: 'getIndex', method: 'GET', path: '', summary: 'Read where things are', right: 'none' })
  read(@Res() reply: FastifyReply): void {
    send(reply, { status: 200, headers: {}, body: `${JSON.stringify(index, undefined, 2)}\n` });
  }
}
