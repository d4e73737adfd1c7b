// Listeners of a snapshot that ask for a port of the node itself: they never open (architecture.md §9).
import { type OwnPlace, ownPlaceAt } from '../model/listener-place.ts';
import { type Problem, pointerOf } from '../model/problem.ts';

interface Bound {
  readonly id: string;
  readonly address?: string | undefined;
  readonly port: number;
}

/** @param bindAddress takes the place of every listener's own address */
export const listenersOnOwnPorts = (
  listeners: readonly Bound[],
  own: readonly OwnPlace[],
  bindAddress: string | undefined,
): Problem[] =>
  listeners.flatMap(({ id, address, port }) => {
    const place = ownPlaceAt(own, { address: bindAddress ?? address, port });
    if (place === undefined) return [];
    const message = `is the port of ${place.owner} of this node; this listener will not open`;
    return [{ pointer: pointerOf('listeners', id, 'port'), message }];
  });
