// Traffic of the whole fleet in small numbers, for a page to show (contract.md §3.7).

import { Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../errors.ts';
import { Stats } from '../model/answers/stats-answers.ts';
import { requestOf, send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { flagOf, textOf } from '../resources/query.ts';
import { routeIdsMax } from '../resources/query-parameters.ts';
import { FleetTraffic, type StatsOrder, statsOrders } from '../traffic/fleet-traffic.ts';

@ApiTags('stats')
@Controller('api/v1')
export class StatsController {
  readonly #traffic: FleetTraffic;

  constructor(@Inject(FleetTraffic) traffic: FleetTraffic) {
    this.#traffic = traffic;
  }

  @Operation({
    id: 'getStats',
    method: 'GET',
    path: '/stats',
    summary: 'Read the traffic of the fleet',
    description:
      'Rates, errors and percentiles over the last 1, 10 and 60 seconds: of everything, and of the first fifty routes and ' +
      'destinations, each with the time of its last request. All nodes and the proxies apart are added up; a proxy apart ' +
      'reports every ten seconds. The total is exact; routes and destinations are counted from the requests that are kept ' +
      '(`GET /requests`), of which each stands for `oneIn`.',
    right: 'read',
    errors: ['INVALID'],
    query: ['sort', 'routes', 'history', 'chain'],
    answer: { status: 200, description: 'The traffic.', of: Stats },
  })
  async read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const asked = requestOf(request);
    const stats = await this.#traffic.stats({
      sort: sortOf(textOf(asked, 'sort')),
      routes: routesOf(textOf(asked, 'routes')),
      history: flagOf(asked, 'history'),
      chain: flagOf(asked, 'chain'),
    });
    send(reply, { status: 200, headers: {}, body: JSON.stringify(stats) });
  }
}

function sortOf(text: string | undefined): StatsOrder {
  if (text === undefined) return 'requests';
  const found = statsOrders.find((order) => order === text);
  if (found === undefined) throw new SluiceError('INVALID', `sort must be one of ${statsOrders.join(', ')}`);
  return found;
}

function routesOf(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const ids = [...new Set(text.split(',').filter((id) => id !== ''))];
  if (ids.length > routeIdsMax) throw new SluiceError('INVALID', `routes names more than ${routeIdsMax} routes`);
  return ids;
}
