// Traces of this process by the settings; without a collector nothing of OpenTelemetry is loaded.

import type { Settings } from './settings/settings.ts';
import type { Logger } from './telemetry/logger.ts';
import type { Traces } from './telemetry/traces/traces.ts';
import { systemClock } from './util/clock.ts';

export interface ProcessName {
  /** Name of the node or proxy. */
  readonly instanceId: string;
  readonly version: string;
}

export async function tracesOf(
  { telemetry: { traces } }: Settings,
  { instanceId, version }: ProcessName,
  logger: Logger,
): Promise<Traces | undefined> {
  if (traces === undefined) return undefined;
  const { openTraces } = await import('./telemetry/traces/exporting.ts');
  return openTraces({ ...traces, instanceId, serviceVersion: version, clock: systemClock, logger });
}
