// Fields of answers from services written for Envoy that have no meaning here: they are ignored, with one warning
// (architecture.md §6.29).
import type { Logger } from '../../telemetry/logger.ts';

/** A service has answered with a field of that name. */
export type ReportIgnored = (field: string) => void;

/** Returns the reporter of one middleware: one warning for each field, however often it comes. */
export function ignoredFields(logger: Logger, destinationId: string): ReportIgnored {
  const told = new Set<string>();
  return (field) => {
    if (told.has(field)) return;
    told.add(field);
    logger.warn(
      { destination: destinationId, field },
      'a service answers with what has no meaning here: it is ignored',
    );
  };
}
