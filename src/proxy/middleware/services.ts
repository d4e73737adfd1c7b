// Services for middlewares: those of their worker, and those that all workers of the process share.

import type { Middleware } from '../../model/middleware.ts';
import type { MiddlewareOverride } from '../../model/middleware-override.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Clock } from '../../util/clock.ts';
import type { LineSink } from '../access-log/line-sink.ts';
import type { MiddlewarePhases } from '../exchange/phase.ts';
import type { ExternalDirectory } from '../external/external-services.ts';
import type { TokenBuckets } from '../shared/token-buckets.ts';
import type { Wheel } from '../wheel.ts';
import type { DryRun } from './dry-run.ts';
import type { KeySource } from './jwt/key-source.ts';
import type { LeasedLimits } from './rate-limit/leased.ts';
import type { StoredLimits } from './rate-limit/stored.ts';

/** Services that the workers of a process share; main keeps them. */
export interface CommonServices {
  /** Returns the buckets of each limit of the limiter with that id, as it is configured; one set for all workers. */
  bucketsOf(middleware: Middleware): readonly TokenBuckets[];
  /** Returns the parts that this process holds of the limits of that limiter, which the whole cluster shares. */
  leasedBucketsOf(middleware: Middleware): LeasedLimits;
  /** Milliseconds that count alike in every worker. */
  commonMs(): number;
  /** Keys that main fetches under that name, see keySetName. */
  keysNamed(name: string, withinMs: number): KeySource;
  /** Returns the sink for the lines of an access log. */
  linesTo(path: string): LineSink;
}

/** Services that live once per worker, for all middlewares and all tables. */
export interface MiddlewareServices extends CommonServices {
  readonly clock: Clock;
  readonly wheel: Wheel;
  readonly logger: Logger;
  /** This worker's part of so many that the process may have; all parts together are as many. */
  share(count: number): number;
  /** Services outside, as that middleware means them. */
  externalOf(middleware: Middleware): ExternalDirectory;
  /** Returns the limits of that limiter in the store of this worker. */
  storedLimitsOf(middleware: Middleware): StoredLimits;
  /** Keys that main fetches for that middleware; a request waits for them no longer than `withinMs`. */
  keysOf(middleware: Middleware, withinMs: number): KeySource;
}

/** Makes the middleware of one entry ready to run in this worker. */
export interface Instantiate {
  (services: MiddlewareServices): MiddlewarePhases;
  /** Absent when the effect does not depend on the request alone. */
  readonly dryRun?: DryRun;
}

/**
 * Compiles a middleware with the override that counts. Throws an error with a message for people when it cannot be
 * built; then its entries are closed, and a snapshot that has it is refused. Pure: main checks with it as well.
 */
export type BuildMiddleware = (middleware: Middleware, override: MiddlewareOverride | undefined) => Instantiate;
