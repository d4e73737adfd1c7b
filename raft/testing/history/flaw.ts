// Runs both checkers on one history of a simulated run.
import type { Operation } from './history.ts';
import { checkRevisionOrder } from './revision-order.ts';
import { firstPart, searchOrder } from './search.ts';

/** The rule that the history breaks, and how. The search takes long: one seed in twenty is searched. */
export function flawOf(
  history: readonly Operation[],
  log: readonly number[],
  seed: number,
): readonly [rule: string, detail: string] | undefined {
  const [problem] = checkRevisionOrder(history, log);
  if (problem !== undefined) return ['B21', problem];
  const isSearched = seed % 20 === 0;
  if (isSearched && searchOrder(firstPart(history)) === 'not linearizable')
    return ['B21', 'no order of the operations explains the answers'];
  return undefined;
}
