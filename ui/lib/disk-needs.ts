// Disks and stores of the nodes that need attention.
import { bytes } from './format.ts';
import type { Slug } from './pages.ts';
import type { NodeDisks } from './types.ts';

/** Trouble that an operator has to look after. */
export interface Need {
  readonly text: string;
  readonly tone: 'warn' | 'bad';
  readonly to: Slug;
  readonly query?: Readonly<Record<string, string>>;
}

/** A store that takes no write because its disk is full is one need. */
export function diskNeeds(nodes: readonly NodeDisks[]): readonly Need[] {
  return nodes.flatMap(({ nodeId, disks, problem }): Need[] => {
    const scarce = (disks ?? []).filter(({ state }) => state !== 'fine');
    const isTold = scarce.some(({ state }) => state === 'full');
    const ofDisks = scarce.map(({ path, freeBytes, totalBytes, state }): Need => {
      const room = `${bytes(freeBytes)} of ${bytes(totalBytes)} free at ${path}`;
      if (state === 'low')
        return { text: `The disk of node ${nodeId} is nearly full: ${room}`, tone: 'warn', to: 'cluster' };
      const why = problem === null ? '' : ` (${problem})`;
      return { text: `The disk of node ${nodeId} is full: ${room}${why}`, tone: 'bad', to: 'cluster' };
    });
    if (problem === null || isTold) return ofDisks;
    return [{ text: `Node ${nodeId}: ${problem}`, tone: 'bad', to: 'cluster' }, ...ofDisks];
  });
}
