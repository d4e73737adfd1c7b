// Resolvers of the graph: one for each kind of cell.
import type { Resolvers } from '../graph/controller-graph.ts';
import { gatewayFacts } from './gateway-facts.ts';
import { policyFacts } from './policy-statuses.ts';
import { routeFacts } from './route-facts.ts';

export const resolvers: Resolvers = { gateway: gatewayFacts, route: routeFacts, policy: policyFacts };
