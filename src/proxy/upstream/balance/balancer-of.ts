// The balancer that a destination asks for. Rings and tables take a while, so it is made in steps.
import type { BalancingPlan } from '../destination-plan.ts';
import type { Balancer, Random } from './balancer.ts';
import { maglevChoice, ringChoice } from './keyed-choice.ts';
import { LeastRequest } from './least-request.ts';
import { RandomChoice } from './random-choice.ts';
import { RoundRobin } from './round-robin.ts';

interface Weighted {
  readonly name: string;
  readonly weight: number;
}

/** `turn`: where round robin begins. STICKY has a ring, for when its store does not answer. */
export function* balancerOf(
  { algorithm, ringSizeMin, tableSize, choiceCount }: BalancingPlan,
  endpoints: readonly Weighted[],
  random: Random,
  turn: number,
): Generator<void, Balancer> {
  if (algorithm === 'RING_HASH' || algorithm === 'STICKY') return yield* ringChoice(endpoints, ringSizeMin);
  if (algorithm === 'MAGLEV') return yield* maglevChoice(endpoints, tableSize);
  if (algorithm === 'LEAST_REQUEST') return new LeastRequest(choiceCount, random);
  if (algorithm === 'RANDOM') return new RandomChoice(random);
  return new RoundRobin(turn % endpoints.length);
}

/** A balancer may be used again for as long as this text is the same. */
export const balancerText = (plan: BalancingPlan, endpoints: readonly Weighted[]): string =>
  JSON.stringify([
    [plan.algorithm, plan.ringSizeMin, plan.tableSize, plan.choiceCount],
    endpoints.map(({ name, weight }) => [name, weight]),
  ]);
