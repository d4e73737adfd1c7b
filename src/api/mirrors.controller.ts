// Differences between the responses of primaries and their mirrors, as the proxy of this node has seen them.
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MirrorMismatches } from '../request-log/mirror-mismatches.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation, Success, schemaRef } from '../resources/operation.ts';
import { limitTextOf } from '../resources/query.ts';

@ApiTags('requests')
@Controller('api/v1/mirrors')
export class MirrorsController {
  readonly #mismatches: MirrorMismatches;

  constructor(@Inject(MirrorMismatches) mismatches: MirrorMismatches) {
    this.#mismatches = mismatches;
  }

  @Get('mismatches')
  @Operation({
    id: 'listMirrorMismatches',
    summary: 'List mismatches of mirrors',
    description:
      'The last 1,000 responses of comparing mirrors (`mirror.compare`) that differed from those of the requests themselves, ' +
      'newest first, from the proxy of this node. Secrets, credentials and ignored values are masked.',
    right: 'read',
    errors: ['INVALID'],
    query: ['limit'],
  })
  @Success(200, 'The mismatches.', { type: 'array', items: schemaRef('MirrorMismatch') }, [])
  list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    send(reply, { status: 200, headers: {}, body: this.#mismatches.list(limitTextOf(requestOf(request))) });
  }
}
