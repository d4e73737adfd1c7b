// Differences between the responses of primaries and their mirrors, as the proxies of the nodes have seen them.

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MirrorMismatch } from '../model/answers/request-answers.ts';
import { list, object } from '../model/json-type.ts';
import { MirrorMismatches } from '../request-log/mirror-mismatches.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { limitTextOf } from '../resources/query.ts';
import { firstOf, printable, warnings } from '../resources/warnings.ts';

const absentText = (node: string): string => `node ${printable(node)} does not answer: its mismatches are left out`;

@ApiTags('requests')
@Controller('api/v1')
export class MirrorsController {
  readonly #mismatches: MirrorMismatches;

  constructor(@Inject(MirrorMismatches) mismatches: MirrorMismatches) {
    this.#mismatches = mismatches;
  }

  @Operation({
    id: 'listMirrorMismatches',
    method: 'GET',
    path: '/mirrors/mismatches',
    summary: 'List mismatches of mirrors',
    description:
      'The last 1,000 responses of comparing mirrors (`mirror.compare`) that differed from those of the requests themselves, ' +
      'newest first, from the proxies of all nodes; those of proxies apart are on their admin ports. A node that does not ' +
      'answer within a second is named in `Warning`. Secrets, credentials and ignored values are masked.',
    right: 'read',
    errors: ['INVALID'],
    query: ['limit'],
    answer: { status: 200, description: 'The mismatches.', of: list(object(MirrorMismatch)), headers: ['Warning'] },
  })
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { body, unreachable } = await this.#mismatches.list(limitTextOf(requestOf(request)));
    const texts = firstOf(unreachable, absentText, (count) => `${count} more nodes do not answer`);
    send(reply, { status: 200, headers: { ...warnings(texts) }, body });
  }
}
