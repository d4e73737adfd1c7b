// Operations on the keys of signed session cookies (contract.md §3.8).
import { Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation, Success, schemaRef } from '../resources/operation.ts';
import { CookieKeyOperations } from './cookie-key-operations.ts';

const keys = { type: 'array', items: schemaRef('CookieKey') } as const;

@ApiTags('cookie-keys')
@Controller('api/v1/cookie-keys')
export class CookieKeysController {
  readonly #keys: CookieKeyOperations;

  constructor(@Inject(CookieKeyOperations) operations: CookieKeyOperations) {
    this.#keys = operations;
  }

  @Get()
  @Operation({
    id: 'listCookieKeys',
    summary: 'List the keys of signed session cookies',
    description: 'The newest first; none before a snapshot asks for signed cookies. Keys themselves are never shown.',
    right: 'read',
    query: ['consistency', 'minRevision'],
    errors: ['INVALID', 'UNAVAILABLE'],
  })
  @Success(200, 'The keys.', keys, ['X-Sluice-Revision'])
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#keys.list(requestOf(request)));
  }

  @Post('rotate')
  @HttpCode(200)
  @Operation({
    id: 'rotateCookieKeys',
    summary: 'Make another key of signed session cookies',
    description:
      'As the leader does each day. The new key seals from the next rotation on; eight keys stay. A key that ' +
      'has become known is out of use after eight rotations, and the cookies that it sealed with it.',
    right: 'administer',
    headers: ['Idempotency-Key'],
    query: ['fieldValidation'],
    errors: ['INVALID', 'CONFLICT', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'],
  })
  @Success(200, 'The keys after it.', keys, ['X-Sluice-Revision', 'Warning'])
  async rotate(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#keys.rotate(requestOf(request)));
  }
}
