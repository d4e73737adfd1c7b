// The health check of a destination as numbers, with its defaults (contract.md §2.3.5, §7.10).
import { requestTarget } from '../../../model/canonical-path.ts';
import { destinationDefaults } from '../../../model/defaults.ts';
import type { Destination } from '../../../model/destination.ts';
import { durationMs } from '../../parsed-duration.ts';
import { nodeOptions } from '../../tls/node-options.ts';
import { protocolOf } from '../protocol/protocol-of.ts';
import type { HealthPlan } from './health-prober.ts';

const intervalMsMin = 1_000;

/** Undefined: endpoints are not probed. */
export function healthPlan(destination: Destination): HealthPlan | undefined {
  const { options } = destination;
  const check = options?.healthCheck;
  if (check === undefined) return undefined;
  const defaults = destinationDefaults.healthCheck;
  return {
    type: check.type ?? defaults.type,
    path: requestTarget(check.path ?? '/'),
    grpcService: check.grpcService ?? '',
    statuses: (check.expectedStatuses ?? defaults.expectedStatuses).map(rangeOf),
    // A timeout of 0 would fail every probe if taken literally, and none if taken as no limit: the default applies.
    timeoutMs: durationMs(check.timeout, defaults.timeout) || durationMs(undefined, defaults.timeout),
    dualStackFallbackMs: durationMs(
      options?.timeouts?.dualStackFallback,
      destinationDefaults.timeouts.dualStackFallback,
    ),
    protocol: protocolOf(options),
    proxyProtocol: options?.proxyProtocol,
    tls: nodeOptions(destination),
    intervalMs: Math.max(intervalMsMin, durationMs(check.interval, defaults.interval)),
    unhealthyThreshold: check.unhealthyThreshold || defaults.unhealthyThreshold,
    healthyThreshold: check.healthyThreshold || defaults.healthyThreshold,
  };
}

/** The same text for the same plan. */
export const healthPlanText = ({ host, options }: Destination): string =>
  JSON.stringify([
    options?.proxyProtocol,
    options?.healthCheck,
    options?.tls,
    protocolOf(options).name,
    host,
    options?.timeouts?.dualStackFallback,
  ]);

function rangeOf(text: string): readonly [number, number] {
  const [from = '', to = from] = text.split('-');
  return [Number(from), Number(to)];
}
