// The options of a destination as numbers, with their defaults (contract.md §2.3.1–§2.3.6). Pure; main reads them to
// probe and to bring endpoints back, workers to forward.
import { destinationDefaults } from '../../model/defaults.ts';
import type { Destination, DestinationOptions } from '../../model/destination.ts';
import type { EndpointAlgorithm } from '../../model/endpoint-balancing.ts';
import { durationMs } from '../parsed-duration.ts';
import { unlimited } from '../shared/destination-state.ts';
import type { HashPolicyPlan } from './balance/hash-key.ts';
import { type BreakerLimits, noLimits } from './circuit-breaker.ts';
import { type OutlierLimits, sweepMsMax } from './outlier-detector.ts';
import { protocolOf } from './protocol/protocol-of.ts';

export interface BalancingPlan {
  readonly algorithm: EndpointAlgorithm;
  readonly ringSizeMin: number;
  readonly tableSize: number;
  readonly choiceCount: number;
  /** Policies of the algorithm in use. */
  readonly policies: readonly HashPolicyPlan[];
  readonly cookie: CookiePlan;
}

export interface CookiePlan {
  readonly name: string;
  /** Whole seconds; 0 = until the browser closes. */
  readonly ttlSeconds: number;
  /** The cookie carries the placement itself. */
  readonly signed: boolean;
}

export function cookiePlan(
  cookie: { readonly name?: string; readonly ttl?: string; readonly signed?: boolean } | undefined,
  defaults: { readonly name: string; readonly ttl: string },
): CookiePlan {
  const ttlMs = durationMs(cookie?.ttl, defaults.ttl);
  return {
    name: cookie?.name ?? defaults.name,
    ttlSeconds: Math.floor(ttlMs / 1_000),
    signed: cookie?.signed === true,
  };
}

export function balancingPlan(options: DestinationOptions | undefined): BalancingPlan {
  const defaults = destinationDefaults.endpointBalancing;
  const balancing = options?.endpointBalancing;
  const algorithm = balancing?.algorithm ?? defaults.algorithm;
  const cookie = cookiePlan(balancing?.sticky?.cookie, defaults.cookie);
  const listed = algorithm === 'MAGLEV' ? balancing?.maglev?.hashPolicy : balancing?.ringHash?.hashPolicy;
  return {
    algorithm,
    ringSizeMin: balancing?.ringHash?.ringSize?.min ?? defaults.ringSize.min,
    tableSize: balancing?.maglev?.tableSize ?? defaults.tableSize,
    choiceCount: balancing?.leastRequest?.choiceCount ?? defaults.choiceCount,
    policies: algorithm === 'STICKY' ? [{ kind: 'cookie', ...cookie }] : (listed ?? []).flatMap(policyPlan),
    cookie,
  };
}

type HashPolicy = NonNullable<
  NonNullable<NonNullable<DestinationOptions['endpointBalancing']>['maglev']>['hashPolicy']
>[number];

/**
 * Returns no plan for a policy that is switched off; it still counts as a policy, so it is not the same as an empty
 * list.
 */
function policyPlan({ header, cookie, sourceIP }: HashPolicy): HashPolicyPlan[] {
  if (header !== undefined) return [{ kind: 'header', name: header.name.toLowerCase() }];
  if (cookie !== undefined) {
    return [{ kind: 'cookie', ...cookiePlan(cookie, destinationDefaults.endpointBalancing.cookie) }];
  }
  return [sourceIP?.enabled === true ? { kind: 'sourceIP' } : { kind: 'off' }];
}

export function breakerLimits(options: DestinationOptions | undefined): BreakerLimits {
  const breaker = options?.circuitBreaker;
  if (breaker === undefined) return noLimits;
  const defaults = destinationDefaults.circuitBreaker;
  const cap = (value: number | undefined, otherwise: number): number => Math.min(value || otherwise, unlimited);
  return {
    activeMax: Math.min(
      cap(breaker.maxConnections, defaults.maxConnections),
      cap(breaker.maxRequests, defaults.maxRequests),
    ),
    waitingMax: cap(breaker.maxPendingRequests, defaults.maxPendingRequests),
    retriesMax: cap(breaker.maxRetries, defaults.maxRetries),
    failureThreshold: Math.min(breaker.failureThreshold ?? defaults.failureThreshold, unlimited),
    openMs: durationMs(breaker.openDuration, defaults.openDuration),
  };
}

/** Undefined: off. */
export function outlierLimits(options: DestinationOptions | undefined): OutlierLimits | undefined {
  const outlier = options?.outlierDetection;
  if (outlier === undefined) return undefined;
  const defaults = destinationDefaults.outlierDetection;
  const intervalMs = durationMs(outlier.interval, defaults.interval);
  return {
    serverErrorsMax: outlier.consecutive5xx ?? defaults.consecutive5xx,
    gatewayErrorsMax: outlier.consecutiveGatewayErrors ?? defaults.consecutiveGatewayErrors,
    sweepMs: Math.min(intervalMs, sweepMsMax),
    baseEjectionMs: durationMs(outlier.baseEjectionTime, defaults.baseEjectionTime),
    ejectedPercentMax: outlier.maxEjectionPercent ?? defaults.maxEjectionPercent,
  };
}

/** Options that connections depend on, as text: a pool outlives an activation that leaves them unchanged. */
export function connectionText({ host, options }: Destination): string {
  const { connect, dualStackFallback, tlsHandshake, responseHeader, idleConnection } = options?.timeouts ?? {};
  const tls = options?.tls;
  return JSON.stringify([
    [connect, dualStackFallback, tlsHandshake, responseHeader, idleConnection],
    [
      options?.maxConnsPerHost,
      options?.circuitBreaker?.maxPendingRequests,
      protocolOf(options).name,
      options?.lenient,
      options?.maxConnectionAge,
      options?.proxyProtocol,
    ],
    (tls?.mode ?? 'none') === 'none' ? undefined : [host, tls],
  ]);
}
