// `GET /whoami`: the caller as the API sees it.

import { Controller, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WhoAmI } from '../model/answers/who-am-i.ts';
import { rightsOf } from '../resources/caller.ts';
import { send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';

@ApiTags('health')
@Controller('api/v1')
export class WhoamiController {
  @Operation({
    id: 'whoAmI',
    method: 'GET',
    path: '/whoami',
    summary: 'Read the own name and role',
    description: 'Without API keys every caller has the role admin and no name.',
    right: 'identify',
    answer: { status: 200, description: 'The caller.', of: WhoAmI },
  })
  read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { name, role } = request.caller;
    const caller = { name, role, may: rightsOf(role) };
    send(reply, { status: 200, headers: {}, body: JSON.stringify(caller satisfies WhoAmI) });
  }
}
