// `GET /debug/config`: the active and the staged configuration of this node (contract.md §3.5).

import { Controller, Inject, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { debugConfig } from '../feed/debug-config.ts';
import { DebugConfig } from '../model/answers/snapshot-answers.ts';
import { send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { inPieces, revisionHeader } from '../resources/resource-answer.ts';
import { StateReader } from '../resources/state-reader.ts';

@ApiTags('debug')
@Controller(['', 'api/v1'])
export class DebugController {
  readonly #reader: StateReader;

  constructor(@Inject(StateReader) reader: StateReader) {
    this.#reader = reader;
  }

  @Operation({
    id: 'getDebugConfig',
    method: 'GET',
    path: '/debug/config',
    summary: 'Read the live and the staged configuration',
    description: 'As this node has it. Values of secrets are shown as `***`.',
    right: 'read',
    answer: {
      status: 200,
      description: 'The configuration of the active snapshot, and the staged one.',
      of: DebugConfig,
      headers: ['X-Sluice-Revision'],
    },
  })
  config(@Res() reply: FastifyReply): void {
    const { view } = this.#reader;
    send(reply, { status: 200, headers: revisionHeader(view.applied), body: inPieces(debugConfig(view)) });
  }
}
