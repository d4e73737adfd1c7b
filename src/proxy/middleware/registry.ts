// The middleware types that exist: one line each. To add a type, write its file in this folder, its class in
// src/model/middleware/, and its line here.
import type { Clock } from '../../clock.ts';
import type { Middleware, MiddlewareType } from '../../model/middleware.ts';
import type { MiddlewareOverride } from '../../model/middleware-override.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { MiddlewarePhases } from '../exchange/phase.ts';
import type { Wheel } from '../wheel.ts';

/** What lives once per worker, for all middlewares and all tables. */
export interface MiddlewareServices {
  readonly clock: Clock;
  readonly wheel: Wheel;
  readonly logger: Logger;
}

/** Makes the middleware of one entry ready to run in this worker. */
export type Instantiate = (services: MiddlewareServices) => MiddlewarePhases;

/**
 * Compiles a middleware with the override that counts. Throws an error with a message for people when it cannot be
 * built; then its entries are closed, and a snapshot that has it is refused. Pure: main checks with it as well.
 */
export type BuildMiddleware = (middleware: Middleware, override: MiddlewareOverride | undefined) => Instantiate;

export const middlewareTypes: { readonly [Type in MiddlewareType]?: BuildMiddleware } = {};

export const buildOf = (type: string): BuildMiddleware | undefined =>
  Object.hasOwn(middlewareTypes, type) ? middlewareTypes[type as MiddlewareType] : undefined;
