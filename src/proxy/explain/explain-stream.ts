// Why a connection of a tcp listener goes where it goes: the stream route that serves it, by the same table that serves
// traffic, and its destinations.
import type { ExplainedDestination } from '../../model/answers/explained-outcome.ts';
import type { ConnectionExplanation } from '../../model/answers/stream-explanation.ts';
import type { Destination } from '../../model/destination.ts';
import type { Listener } from '../../model/listener.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { ServedListener } from '../match/served-listener.ts';
import { plainIp } from '../message/client-address.ts';
import type { StreamPlan } from '../stream/stream-plan.ts';
import { StreamTable } from '../stream/stream-route-table.ts';
import { canonicalHost } from '../target/host.ts';
import { explainDestination, type KnownStates } from './explained-destination.ts';
import { ExplainedRequest } from './explained-request.ts';

export interface StreamQuestion {
  readonly listener: Listener;
  /** Empty: none. */
  readonly sni: string;
  readonly clientIp: string;
}

export function* explainStream(
  configuration: Configuration,
  { listener, sni, clientIp }: StreamQuestion,
  known: KnownStates,
): Generator<void, ConnectionExplanation> {
  const { table } = yield* StreamTable.of(configuration, undefined);
  const serverName = canonicalHost(sni);
  const section = new ServedListener(listener).sectionOf(serverName);
  const client = plainIp(clientIp);
  const plan = table.find(section, serverName, client);
  const { id, name, port } = listener;
  return {
    connection: { sni: serverName, clientIp: client },
    listener: { id, name, port, section: section.listener.section },
    streamRoute: plan === undefined ? null : { id: plan.id, name: plan.name },
    outcome: yield* outcomeOf(plan, client, configuration.destinations, known),
  };
}

function* outcomeOf(
  plan: StreamPlan | undefined,
  clientIp: string,
  all: readonly Destination[],
  known: KnownStates,
): Generator<void, ConnectionExplanation['outcome']> {
  if (plan === undefined) return { action: 'close', error: 'no_route' };
  if (plan.closed !== undefined) return { action: 'close', error: plan.closed };
  const byId = new Map(all.map((destination) => [destination.id, destination]));
  // Balancing asks a connection for the address of its client alone.
  const request = new ExplainedRequest({ method: 'GET', url: '/', headers: {}, clientIp, body: '' });
  const destinations: ExplainedDestination[] = [];
  for (const { destinationId, weight } of plan.choice.shares) {
    const destination = byId.get(destinationId);
    if (destination === undefined) destinations.push({ id: destinationId, weight, exists: false });
    else destinations.push(yield* explainDestination(destination, weight, request, known));
  }
  if (!destinations.some(({ exists }) => exists)) return { action: 'close', error: 'no_destination' };
  if (!destinations.some(({ available }) => available === true)) return { action: 'close', error: 'no_endpoint' };
  return { action: 'stream', destinations };
}
