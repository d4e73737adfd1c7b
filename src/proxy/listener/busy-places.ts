// Busy ports: ports that other processes have. `reusePort` shares a port with foreign processes too, so a port that
// no worker has yet is bound once without it (architecture.md §9). Where a listener of the process still has the
// port, and is about to close, the attempt would prove nothing.
import { createServer } from 'node:net';
import type { Listener } from '../../model/listener.ts';
import { overlap } from '../../model/listener-place.ts';
import { type BusyPlace, keyOf, type ListenerStatus, placeOf } from './listeners.ts';

/** Returns the busy places of `listeners`; places that are open in `statuses` are not tried. */
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

/** Returns the reason why the port cannot be bound; undefined when it can. */
function bindOnce({ address, port }: { address: string; port: number }): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error.message));
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
