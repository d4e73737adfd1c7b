// Index of the API, at the address that the start prints and at the root: where documentation, health and metrics are.
// Says nothing of the configuration, and needs no key.
import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';

export const indexPaths = ['/', '/api/v1'] as const;

const index = {
  name: 'Sluice',
  api: '/api/v1',
  explorer: '/api/v1/docs/',
  document: '/api/v1/docs/doc.json',
  health: '/healthz',
  readiness: '/readyz',
  metrics: '/metrics',
};

@ApiExcludeController()
@Controller(['', 'api/v1'])
export class IndexController {
  @Get()
  @Operation({ id: 'getIndex', summary: 'Read where things are', right: 'none' })
  read(@Res() reply: FastifyReply): void {
    send(reply, { status: 200, headers: {}, body: `${JSON.stringify(index, undefined, 2)}\n` });
  }
}
