// self-forward: a destination is a listener of this proxy, and the route matches what it sends there.
import type { Witness } from '../../model/answers/finding-answers.ts';
import { destinationDefaults } from '../../model/defaults.ts';
import type { Listener } from '../../model/listener.ts';
import { upstreamHost, upstreamTarget } from '../../proxy/action/target-rewrite.ts';
import { schemeOf } from '../../proxy/explain/explained-listener.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { headersOf } from '../conditions.ts';
import { nameOf, placeIn, placeOf, type RawFinding } from '../finding.ts';
import { isPlaceOf } from '../own-address.ts';
import type { Subject } from '../subject.ts';

export function* selfForwards(subject: Subject): Generator<void, readonly RawFinding[]> {
  const own = new Map<string, Listener>();
  for (const { id, host, port, endpoints = [], options } of subject.configuration.destinations) {
    const places = endpoints.length === 0 ? [{ host, port }] : endpoints;
    const scheme = (options?.tls?.mode ?? destinationDefaults.tls.mode) === 'none' ? 'http' : 'https';
    const listener = subject.listeners.find(
      (each) => schemeOf(each) === scheme && places.some((place) => isPlaceOf(each, subject.bindAddress, place)),
    );
    if (listener !== undefined) own.set(id, listener);
    yield;
  }
  if (own.size === 0) return [];
  const found: RawFinding[] = [];
  for (const entry of subject.entries) {
    yield;
    const shares = entry.route.forward?.destinations ?? [];
    for (const [at, { destinationId = '', weight = 0 }] of shares.entries()) {
      if (weight === 0 && shares.length > 1) continue;
      const listener = own.get(destinationId);
      const witness = listener && loopOf(subject, entry, destinationId, listener);
      if (listener === undefined || witness === undefined) continue;
      found.push({
        severity: 'error',
        ...placeOf(entry, `/forward/destinations/${at}`),
        message: `${nameOf(entry)} forwards to listener "${listener.name}" of this proxy, and matches what it sends there`,
        witness,
        because: [placeIn('listeners', listener, '/port')],
        madeOf: [entry],
      });
      break;
    }
  }
  return found;
}

/** A request that comes back to the entry. */
function loopOf(subject: Subject, entry: RankedEntry, destinationId: string, listener: Listener): Witness | undefined {
  const { action } = entry;
  const destination = subject.configuration.destinations.find(({ id }) => id === destinationId);
  if (action?.kind !== 'forward' || destination === undefined || mayLoseMatch(entry)) return undefined;
  const { plan } = action;
  const witness = subject.servedBy(entry);
  if (witness === undefined) return undefined;
  const { request } = subject.ask(witness);
  const edits = plan.choice.shares.find((share) => share.destinationId === destinationId)?.edits;
  const rewrite = edits?.rewrite ?? plan.rewrite;
  const host = upstreamHost(rewrite, request, destination.host, undefined);
  const target = upstreamTarget(rewrite, plan.path, request);
  const sent = { ...witness, url: `${schemeOf(listener)}://${host}${target}`, listener: listener.id };
  return subject.ask(sent).winner === entry ? witness : undefined;
}

/** Fields that decide may be others on the way back. */
const mayLoseMatch = (entry: RankedEntry): boolean =>
  (headersOf(entry).length > 0 || entry.route.match?.cel !== undefined) &&
  (entry.route.forward?.headers !== undefined ||
    entry.route.forward?.destinations.some(({ headers }) => headers !== undefined) === true ||
    entry.chain.some(({ disabled }) => !disabled));
