// Index of the API: where dashboard, documentation, health and metrics are.
// Says nothing of the configuration, and needs no key.
import { Controller, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { apiBase, documentPath, explorerPath } from './api-paths.ts';

const index = {
  name: 'Sluice',
  dashboard: '/ui/',
  api: apiBase,
  explorer: `${apiBase}${explorerPath}`,
  document: `${apiBase}${documentPath}`,
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
