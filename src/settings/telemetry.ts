// Section `telemetry` of the settings file (observability.md): what the process tells others of its work.
import { type RecentRequestSettings, readRecentRequests } from './recent-requests.ts';
import type { Section } from './section.ts';

export interface TelemetrySettings {
  readonly recent: RecentRequestSettings;
}

export function readTelemetry(section: Section | undefined): TelemetrySettings {
  const recent = readRecentRequests(section);
  section?.end();
  return { recent };
}
