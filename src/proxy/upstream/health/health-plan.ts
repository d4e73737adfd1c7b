// The health check of a destination as numbers, with its defaults (contract.md §2.3.5, §7.10).
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import { destinationDefaults } from '../../../model/defaults.ts';
import type { Destination } from '../../../model/destination.ts';
import { durationMs } from '../../duration.ts';
import type { HealthPlan } from './health-prober.ts';

const intervalMsMin = 1_000;

/** Undefined: endpoints are not probed. */
export function healthPlan({ host, options }: Destination): HealthPlan | undefined {
  const check = options?.healthCheck;
  if (check === undefined) return undefined;
  const defaults = destinationDefaults.healthCheck;
  return {
    type: check.type ?? defaults.type,
    path: check.path ?? '/',
    grpcService: check.grpcService ?? '',
    statuses: (check.expectedStatuses ?? defaults.expectedStatuses).map(rangeOf),
    timeoutMs: durationMs(check.timeout, defaults.timeout),
    http2: options?.http2 === true,
    tls: tlsOptions(host, options?.tls),
    intervalMs: Math.max(intervalMsMin, durationMs(check.interval, defaults.interval)),
    unhealthyThreshold: check.unhealthyThreshold || defaults.unhealthyThreshold,
    healthyThreshold: check.healthyThreshold || defaults.healthyThreshold,
  };
}

/** The same text for the same plan. */
export const healthPlanText = ({ host, options }: Destination): string =>
  JSON.stringify([options?.healthCheck, options?.tls, options?.http2, host]);

function rangeOf(text: string): readonly [number, number] {
  const [from = '', to = from] = text.split('-');
  return [Number(from), Number(to)];
}

type DestinationTls = NonNullable<NonNullable<Destination['options']>['tls']>;

function tlsOptions(host: string, tls: DestinationTls | undefined): ConnectionOptions | undefined {
  if (tls === undefined || (tls.mode ?? 'none') === 'none') return undefined;
  const { cert, key, ca, sni = host, minVersion, maxVersion } = tls;
  const name = sni.replace(/^\[(.*)\]$/, '$1');
  return {
    ...(ca !== undefined && { ca }),
    ...(tls.mode === 'mtls' && { cert, key }),
    ...(isIP(name) === 0 && { servername: name }),
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
    ...(minVersion !== undefined && { minVersion: versionName(minVersion) }),
    ...(maxVersion !== undefined && { maxVersion: versionName(maxVersion) }),
  };
}

const versionName = (version: string) =>
  version.replace('_', '.').replace('TLSv1.0', 'TLSv1') as 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
