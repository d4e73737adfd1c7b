// Which ports other processes have. `reusePort` lets a port be shared with strangers as well, so a port that no worker
// has yet is bound once without it (architecture.md §9). Where an own listener is in the way, one that is about to
// close, that would tell nothing.
import { createServer } from 'node:net';
import type { Listener } from '../../model/listener.ts';
import { overlap } from '../../model/listener-place.ts';
import { type BusyPlace, keyOf, type ListenerStatus, placeOf } from './listeners.ts';

/** Of the places of `listeners`; what is open in `statuses` is not tried. */
export async function findBusyPlaces(
  listeners: readonly Listener[],
  statuses: readonly ListenerStatus[],
  bindAddress: string | undefined,
): Promise<BusyPlace[]> {
  const opened = statuses.filter(({ state }) => state === 'open');
  const known = new Set(opened.map(keyOf));
  const busy: BusyPlace[] = [];
  for (const listener of listeners) {
    const place = placeOf(listener, bindAddress);
    const key = keyOf(place);
    if (known.has(key)) continue;
    known.add(key);
    if (opened.some((status) => overlap(status, place))) continue;
    const reason = await bindOnce(place);
    if (reason !== undefined) busy.push({ place: key, reason });
  }
  return busy;
}

/** Why the port cannot be had, if it cannot. */
function bindOnce({ address, port }: { address: string; port: number }): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error.message));
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
