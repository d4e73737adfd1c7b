// Disks of the nodes, for a page to show (contract.md §3.8).

import { Controller, Inject, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { MemberDisks } from '../model/answers/fleet-answers.ts';
import { list, object } from '../model/json-type.ts';
import { send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { FleetOperations } from './fleet-operations.ts';

@ApiTags('cluster')
@Controller('api/v1')
export class DisksController {
  readonly #fleet: FleetOperations;

  constructor(@Inject(FleetOperations) fleet: FleetOperations) {
    this.#fleet = fleet;
  }

  @Operation({
    id: 'listDisks',
    method: 'GET',
    path: '/disks',
    summary: 'List the disks of the nodes',
    description:
      'Room on the disk of the store of each node, and why its store takes no write. A node that does not answer within a ' +
      'second has null for its disks.',
    right: 'read',
    answer: { status: 200, description: 'The nodes, ascending by name.', of: list(object(MemberDisks)) },
  })
  async list(@Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.disks());
  }
}
