// Stream plan: a stream route precomputed as far as possible without a connection: numbers, weights, access logs.
import type { ProxyErrorType } from '../../errors.ts';
import { streamRouteDefaults } from '../../model/defaults.ts';
import type { Middleware } from '../../model/middleware.ts';
import type { Problem } from '../../model/problem.ts';
import { pointerOf } from '../../model/problem.ts';
import type { StreamForward, StreamRoute } from '../../model/stream-route.ts';
import { type DestinationChoice, destinationChoice } from '../forward/destination-choice.ts';
import { compileShares } from '../forward/share.ts';
import { type AccessLogPhases, buildAccessLog } from '../middleware/access-log.ts';
import type { MiddlewareServices } from '../middleware/services.ts';
import { durationMs } from '../parsed-duration.ts';

export interface StreamPlan {
  readonly id: string;
  readonly name: string;
  readonly choice: DestinationChoice;
  /** Milliseconds that a connection may carry nothing; 0 = no limit. */
  readonly idleMs: number;
  /** Access logs, outermost first. */
  readonly logs: readonly AccessLogPhases[];
  /** Error that ends its connections, because a part of it cannot be used. */
  readonly closed: ProxyErrorType | undefined;
}

export interface PlanSurroundings {
  readonly middlewares: ReadonlyMap<string, Middleware>;
  /** Undefined: the plan is not going to run, and has no access logs. */
  readonly services: MiddlewareServices | undefined;
}

export interface CompiledPlan {
  readonly plan: StreamPlan;
  /** Pointers name entities by id. */
  readonly problems: readonly Problem[];
}

/** A received route may lack its forward, when it could not be read. */
const noForward: StreamForward = { destinations: [] };

export function compilePlan(route: StreamRoute, { middlewares, services }: PlanSurroundings): CompiledPlan {
  const { id, name } = route;
  const { destinations, failover, timeouts } = (route.forward as StreamForward | undefined) ?? noForward;
  const problems: Problem[] = [];
  const logs: AccessLogPhases[] = [];
  for (const [at, middlewareId] of (route.middlewareIds ?? []).entries()) {
    const middleware = middlewares.get(middlewareId);
    const message = problemOf(middlewareId, middleware);
    if (message !== undefined) problems.push({ pointer: pointerOf('streamRoutes', id, 'middlewareIds', at), message });
    else if (middleware?.accessLog !== undefined && services !== undefined)
      logs.push(buildAccessLog(middleware.accessLog, services.linesTo(middleware.accessLog.path)));
  }
  const plan = {
    id,
    name,
    choice: destinationChoice(
      { destinations, ...(failover !== undefined && { failover }) },
      compileShares({ destinations }, undefined, []),
    ),
    idleMs: durationMs(timeouts?.idle, streamRouteDefaults.timeouts.idle),
    logs,
    closed: problems.length > 0 ? ('middleware_unavailable' as const) : undefined,
  };
  return { plan, problems };
}

function problemOf(id: string, middleware: Middleware | undefined): string | undefined {
  if (middleware === undefined) return `names no middleware: ${id}`;
  if (middleware.type !== 'accessLog')
    return `names middleware "${id}" of type ${middleware.type}: stream routes have accessLog alone`;
  return middleware.accessLog === undefined ? 'names a middleware without its block: accessLog' : undefined;
}
