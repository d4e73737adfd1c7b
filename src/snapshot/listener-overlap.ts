// Listeners of one snapshot that ask for the same address and port: the first by id opens, the others are named
// (architecture.md §9).
import { collide, type SharingPlace } from '../model/listener-place.ts';
import { type Problem, pointerOf } from '../model/problem.ts';

interface Bound extends SharingPlace {
  readonly id: string;
}

/** @param listeners ascending by id */
export function overlappingListeners(listeners: readonly Bound[]): Problem[] {
  const openByPort = new Map<number, Bound[]>();
  const problems: Problem[] = [];
  for (const listener of listeners) {
    const open = openByPort.get(listener.port) ?? [];
    const first = open.find((other) => collide(other, listener));
    if (first === undefined) openByPort.set(listener.port, [...open, listener]);
    else {
      const message = `is taken by listener "${first.id}" on the same address; this listener will not open`;
      problems.push({ pointer: pointerOf('listeners', listener.id, 'port'), message });
    }
  }
  return problems;
}
