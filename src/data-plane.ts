// Data plane by the settings, the same in both modes; they differ in the source of its configurations
// alone.

import type { ReportLeases } from './model/lease-messages.ts';
import type { OwnPlace } from './model/listener-place.ts';
import type { ConfigSource } from './model/proxy-config.ts';
import type { LogPaths } from './proxy/access-log/log-paths.ts';
import type { CandidateResult } from './proxy/candidate-controller.ts';
import { createProxy, type Proxy as DataPlane, type InstallResult } from './proxy/proxy.ts';
import type { ReadyThreads } from './proxy/worker/ready-threads.ts';
import { dataPlaneSettings } from './settings/data-plane-settings.ts';
import type { Settings } from './settings/settings.ts';
import type { Telemetry } from './telemetry/logger.ts';
import { systemClock } from './util/clock.ts';

export interface DataPlaneParts extends Telemetry {
  readonly source: ConfigSource;
  /** Ports of this process, known by the time the data plane starts. */
  readonly ownPlaces: () => readonly OwnPlace[];
  /** Allowed paths of access logs. */
  readonly logPaths: LogPaths;
  readonly onSettled?: (outcome: InstallResult) => void;
  readonly onCandidate?: (outcome: CandidateResult) => void;
  /** Way to the leader for rate limits that the cluster shares. */
  readonly leases: ReportLeases;
  /** Threads for its workers that have begun already. */
  readonly ready?: ReadyThreads | undefined;
}

export const dataPlaneOf = (
  { controlPlane, proxy, sessionStore, telemetry: { recent } }: Settings,
  { source, ownPlaces, logPaths, logger, level, traces, onSettled, onCandidate, leases, ready }: DataPlaneParts,
): DataPlane =>
  createProxy({
    source,
    clock: systemClock,
    telemetry: { logger, level, traces },
    ownPlaces: () => [...ownPlaces(), ...metricsPlace(proxy)],
    logPaths,
    settings: dataPlaneSettings(proxy, {
      shutdownTimeoutMs: controlPlane.shutdownTimeoutMs,
      sessionStore,
      recent,
      metricsAddress: proxy.metricsAddress,
    }),
    onSettled,
    onCandidate,
    leases,
    threads: ready,
  });

const metricsPlace = ({ metricsAddress: at }: Settings['proxy']): OwnPlace[] =>
  at === undefined
    ? []
    : [{ owner: 'the metrics (proxy.metrics.address)', address: at.host === '' ? '::' : at.host, port: at.port }];
