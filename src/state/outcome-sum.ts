// Outcome of a large batch in short: two hundred thousand outcomes would be kept with its request on every node.
import type { OutcomeSum } from './command.ts';
import type { Touched } from './live-base.ts';
import type { Decision } from './refusals.ts';

const idsMax = 100;
const ownedMax = 1_000;

/** Returns the decision with the sum of its outcomes in their place; a refusal as it is. */
export function* summed(decision: Decision, touched: readonly Touched[]): Generator<void, Decision> {
  const { outcomes, ...rest } = decision;
  return outcomes === undefined ? decision : { ...rest, sum: yield* sumOf(outcomes, touched) };
}

/** `touched`: entities of the operations, in their order; a delete that found nothing has none and no id. */
function* sumOf(
  outcomes: NonNullable<Decision['outcomes']>,
  touched: readonly Pick<Touched, 'kind'>[],
): Generator<void, OutcomeSum> {
  const ids: string[] = [];
  const owned: OutcomeSum['owned'][number][] = [];
  let [changed, at] = [0, 0];
  for (const [id, , isChanged, owner] of outcomes) {
    const kind = id === '' ? undefined : touched[at++]?.kind;
    if (isChanged === 1 && ids.length < idsMax) ids.push(id);
    changed += isChanged;
    if (owner !== undefined && kind !== undefined && owned.length < ownedMax) owned.push([kind, id, owner]);
    yield;
  }
  return { changed, ids, owned };
}
