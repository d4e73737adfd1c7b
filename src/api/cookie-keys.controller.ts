// Operations on the keys of signed session cookies (contract.md §3.8).

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ShownCookieKey } from '../model/answers/endpoint-answers.ts';
import { list, object } from '../model/json-type.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { CookieKeyOperations } from './cookie-key-operations.ts';

const keys = list(object(ShownCookieKey));

@ApiTags('cookie-keys')
@Controller('api/v1')
export class CookieKeysController {
  readonly #keys: CookieKeyOperations;

  constructor(@Inject(CookieKeyOperations) operations: CookieKeyOperations) {
    this.#keys = operations;
  }

  @Operation({
    id: 'listCookieKeys',
    method: 'GET',
    path: '/cookie-keys',
    summary: 'List the keys of signed session cookies',
    description: 'The newest first; none before a snapshot asks for signed cookies. Keys themselves are never shown.',
    right: 'read',
    query: ['consistency', 'minRevision'],
    errors: ['INVALID', 'UNAVAILABLE'],
    answer: { status: 200, description: 'The keys.', of: keys, headers: ['X-Sluice-Revision'] },
  })
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#keys.list(requestOf(request)));
  }

  @Operation({
    id: 'rotateCookieKeys',
    method: 'POST',
    path: '/cookie-keys/rotate',
    summary: 'Make another key of signed session cookies',
    description:
      'As the leader does each day. The new key seals from the next rotation on; eight keys stay. A key that ' +
      'has become known is out of use after eight rotations, and the cookies that it sealed with it.',
    right: 'administer',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    answer: { status: 200, description: 'The keys after it.', of: keys, headers: ['X-Sluice-Revision', 'Warning'] },
  })
  async rotate(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#keys.rotate(requestOf(request)));
  }
}
