// `GET /whoami`: the caller as the API sees it.
import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { rightsOf } from '../resources/caller.ts';
import { send } from '../resources/http-exchange.ts';
import { Operation, Success, schemaRef } from '../resources/operation.ts';

@ApiTags('health')
@Controller('api/v1/whoami')
export class WhoamiController {
  @Get()
  @Operation({
    id: 'whoAmI',
    summary: 'Read the own name and role',
    description: 'Without API keys every caller has the role admin and no name.',
    right: 'identify',
  })
  @Success(200, 'The caller.', schemaRef('WhoAmI'), [])
  read(@Req() { caller }: FastifyRequest, @Res() reply: FastifyReply): void {
    const { name, role } = caller;
    send(reply, { status: 200, headers: {}, body: JSON.stringify({ name, role, may: rightsOf(role) }) });
  }
}
