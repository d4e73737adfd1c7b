// Traffic of the fleet in small numbers.
import { amount, count, integer, limited, list, nullable, number, object, record, text, time } from '../json-type.ts';
import { Component, Optional, Required } from '../property.ts';

const ratio = limited(number, { minimum: 0, maximum: 1 });

/** Rates of errors and percentiles. */
class TrafficRatios {
  @Required(ratio, 'Answers of 500 and above and errors of the proxy itself, but for those of 400 to 499, of all.')
  readonly errorRate!: number;

  @Required(ratio, 'Answers of 400 to 499, of all; `no_route` for instance.')
  readonly clientErrorRate!: number;

  @Required(
    nullable(amount),
    'Half of the requests took no longer, in milliseconds, in steps of 19 %; null without a request.',
  )
  readonly p50Ms!: number | null;

  @Required(nullable(amount), 'The same of 95 %.')
  readonly p95Ms!: number | null;

  @Required(nullable(amount), 'The same of 99 %.')
  readonly p99Ms!: number | null;
}

@Component('Requests of one window.', { as: 'TrafficFigures' })
export class CellFigures extends TrafficRatios {
  @Required(amount, 'Requests that ended, per second.')
  readonly requestsPerSecond!: number;
}

/** Requests of one variant since the rollout began. */
@Component('Requests of one variant.')
export class VariantTraffic extends TrafficRatios {
  @Required(count, 'Requests that ended.')
  readonly requests!: number;
}

const windowNames = ['1s', '10s', '60s'] as const;
export type Windows = Readonly<Record<(typeof windowNames)[number], CellFigures>>;
const windows = record(windowNames, object(CellFigures));

@Component('Runs of a middleware for the requests of one route, since `since`; all of them, none is sampled.', {
  as: 'ChainTraffic',
})
export class ChainStats {
  @Required(text, 'Id of the middleware.')
  readonly middlewareId!: string;

  @Required(nullable(text), 'Name; null for one that is not staged.')
  readonly name!: string | null;

  @Required(text, 'Type of the middleware.')
  readonly type!: string;

  @Required(count, 'Runs that let the exchange go on.')
  readonly passed!: number;

  @Required(count, 'Runs that answered 400 or above in its place.')
  readonly rejected!: number;
}

@Component('Traffic of a route or destination.', { as: 'TrafficSubject' })
export class SubjectStats {
  @Required(text, 'Id.')
  readonly id!: string;

  @Required(nullable(text), 'Name; null for one that is not staged.')
  readonly name!: string | null;

  @Required(nullable(time), 'Time of its last request; null: none since `since`.')
  readonly lastHit!: string | null;

  @Required(windows, 'By window.')
  readonly windows!: Windows;

  @Optional(
    list(object(ChainStats)),
    'With `chain=true`, of a route that was asked for: middlewares of its groups, then its own.',
  )
  readonly chain?: readonly ChainStats[];
}

export class RolloutTraffic {
  @Required(text, 'Id of the rollout.')
  readonly id!: string;

  @Required(object(VariantTraffic))
  readonly candidate!: VariantTraffic;

  @Required(object(VariantTraffic))
  readonly stable!: VariantTraffic;
}

export class TrafficStep extends CellFigures {
  @Required(time, 'Begin of the step.')
  readonly at!: string;
}

@Component('Traffic of the fleet.')
export class Stats {
  @Required(time, 'Time of the answer.')
  readonly at!: string;

  @Required(time, 'Time from which on all nodes that answer have counted.')
  readonly since!: string;

  @Required(list(text), 'Nodes that did not answer within a second: their traffic is missing here.')
  readonly unreachableNodes!: readonly string[];

  @Required(limited(integer, { minimum: 1 }), 'Number of requests that a kept one represents at the moment.')
  readonly oneIn!: number;

  @Required(windows, 'By window.')
  readonly total!: Windows;

  @Required(list(object(SubjectStats)), 'The first fifty of the order, or those that were asked for.')
  readonly routes!: readonly SubjectStats[];

  @Required(list(object(SubjectStats)), 'The first fifty of the order.')
  readonly destinations!: readonly SubjectStats[];

  @Optional(object(RolloutTraffic), 'Rollout under way: both variants since it began.')
  readonly rollout?: RolloutTraffic;

  @Optional(
    list(object(TrafficStep)),
    'With `history=true`: the last 15 minutes, oldest first, in steps of five seconds.',
  )
  readonly history?: readonly TrafficStep[];
}
