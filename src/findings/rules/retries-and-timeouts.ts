// retry-not-idempotent and timeouts-contradict: retries that may repeat an effect, and limits that never count.
import type { FoundPlace } from '../../model/answers/finding-answers.ts';
import { retryDefaults } from '../../model/defaults.ts';
import { parseDuration } from '../../model/duration.ts';
import type { Group } from '../../model/group.ts';
import type { Retry } from '../../model/retry.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { methodsOf } from '../conditions.ts';
import { nameOf, placeIn, placeOf, type RawFinding } from '../finding.ts';
import type { DestinationsById, Subject } from '../subject.ts';

/** Methods that may be repeated (RFC 9110 §9.2.2). */
const idempotent: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'];

export function* retriesOfNotIdempotent(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    if (!hasRetry(entry)) continue;
    const { retry, place } = retryOf(entry);
    if (retry === undefined || (retry.attempts ?? retryDefaults.attempts) === 0) continue;
    const on = (retry.on ?? retryDefaults.on).filter((each) => each === 'gateway-error' || each === 'server-error');
    const methods = methodsOf(entry);
    const repeated = methods?.filter((method) => !idempotent.includes(method));
    if (on.length === 0 || repeated?.length === 0) continue;
    const which = repeated === undefined ? 'every method' : repeated.join(', ');
    found.push({
      severity: repeated === undefined ? 'info' : 'warning',
      ...placeOf(entry, '/forward/retry'),
      message: `${nameOf(entry)} repeats requests of ${which} on ${on.join(', ')}, which may have had an effect`,
      witness: null,
      because: place === undefined ? [] : [place],
    });
  }
  return found;
}

const hasRetry = ({ route, group }: RankedEntry): boolean =>
  route.forward?.retry !== undefined || group?.retryDefault !== undefined;

/** The retry that counts, and its place where that is not the route. */
function retryOf({ route, group }: RankedEntry): { retry: Retry | undefined; place?: FoundPlace } {
  const own = route.forward?.retry;
  if (own !== undefined || route.forward === undefined || group?.retryDefault === undefined) return { retry: own };
  return { retry: group.retryDefault, place: placeIn('groups', group as Group, '/retryDefault') };
}

export function* contradictingTimeouts(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  let destinations: DestinationsById | undefined;
  const tell = (entry: RankedEntry, pointer: string, message: string, because: readonly FoundPlace[] = []): void =>
    void found.push({ severity: 'warning', ...placeOf(entry, pointer), message, witness: null, because });
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    const { forward } = entry.route;
    if (forward === undefined || (forward.timeouts === undefined && !hasRetry(entry))) continue;
    const budget = limitOf(forward.timeouts?.request);
    const { retry } = retryOf(entry);
    const tries = [
      ['/forward/timeouts/perAttempt', limitOf(forward.timeouts?.perAttempt)],
      ['/forward/retry/perAttemptTimeout', limitOf(retry?.perAttemptTimeout)],
    ] as const;
    for (const [pointer, limit] of tries) {
      if (limit === undefined) continue;
      if (budget !== undefined && limit > budget)
        tell(entry, pointer, `one try of ${nameOf(entry)} may take ${limit} ms, and the whole exchange ${budget} ms`);
      for (const { destinationId = '' } of forward.destinations) {
        destinations ??= yield* subject.destinations();
        const destination = destinations.get(destinationId);
        const own = limitOf(destination?.options?.timeouts?.request);
        // The budget of the route takes the place of that of the destination.
        if (destination === undefined || own === undefined || budget !== undefined || limit <= own) continue;
        const because = [placeIn('destinations', destination, '/options/timeouts/request')];
        tell(
          entry,
          pointer,
          `one try of ${nameOf(entry)} may take ${limit} ms, and destination "${destination.name}" ends it after ${own} ms`,
          because,
        );
      }
    }
  }
  return found;
}

/** Milliseconds; undefined: no limit. */
const limitOf = (text: string | undefined): number | undefined =>
  (text === undefined ? undefined : parseDuration(text)) || undefined;
