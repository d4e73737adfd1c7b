// The balancer that a destination asks for. Rings and tables take a while, so it is made in steps.
import type { EndpointAlgorithm } from '../../../model/endpoint-balancing.ts';
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

interface Needs {
  readonly plan: BalancingPlan;
  readonly endpoints: readonly Weighted[];
  readonly random: Random;
  /** Position at which round robin begins. */
  readonly turn: number;
}

type Make = (needs: Needs) => Balancer | Generator<void, Balancer>;

const ring: Make = ({ plan, endpoints }) => ringChoice(endpoints, plan.ringSizeMin);

/** An algorithm without its line does not compile. STICKY has a ring, for when its store does not answer. */
const made: Readonly<Record<EndpointAlgorithm, Make>> = {
  ROUND_ROBIN: ({ endpoints, turn }) => new RoundRobin(turn % endpoints.length),
  RANDOM: ({ random }) => new RandomChoice(random),
  LEAST_REQUEST: ({ plan, random }) => new LeastRequest(plan.choiceCount, random),
  RING_HASH: ring,
  MAGLEV: ({ plan, endpoints }) => maglevChoice(endpoints, plan.tableSize),
  STICKY: ring,
};

export function* balancerOf(
  plan: BalancingPlan,
  endpoints: readonly Weighted[],
  random: Random,
  turn: number,
): Generator<void, Balancer> {
  // Without endpoints there is nothing to pick, and no ring or table would end.
  if (endpoints.length === 0) return new RandomChoice(random);
  const balancer = made[plan.algorithm]({ plan, endpoints, random, turn });
  return 'next' in balancer ? yield* balancer : balancer;
}

/** A balancer may be used again for as long as this text is the same. */
export const balancerText = (plan: BalancingPlan, endpoints: readonly Weighted[]): string =>
  JSON.stringify([
    [plan.algorithm, plan.ringSizeMin, plan.tableSize, plan.choiceCount],
    endpoints.map(({ name, weight }) => [name, weight]),
  ]);
