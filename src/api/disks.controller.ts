// Disks of the nodes, for a page to show (contract.md §3.8).
import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { send } from '../resources/http-exchange.ts';
import { Operation, Success, schemaRef } from '../resources/operation.ts';
import { FleetOperations } from './fleet-operations.ts';

@ApiTags('cluster')
@Controller('api/v1/disks')
export class DisksController {
  readonly #fleet: FleetOperations;

  constructor(@Inject(FleetOperations) fleet: FleetOperations) {
    this.#fleet = fleet;
  }

  @Get()
  @Operation({
    id: 'listDisks',
    summary: 'List the disks of the nodes',
    description:
      'Room on the disk of the store of each node, and why its store takes no write. A node that does not answer within a ' +
      'second has null for its disks.',
    right: 'read',
  })
  @Success(200, 'The nodes, ascending by name.', { type: 'array', items: schemaRef('NodeDisks') }, [])
  async list(@Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.#fleet.disks());
  }
}
