// Statuses of Gateways and ListenerSets. Programmed says that every proxy has the configuration and every port is open.

import { type Condition, holds, isFalse, isTrue, type StoredCondition, storedConditions } from '../graph/condition.ts';
import type { GatewayFacts, ListenerFacts, ListenerSetFacts } from '../graph/facts.ts';
import type { Installed } from './installed.ts';

export interface StatusContext {
  readonly installed: Installed;
  /** Number of routes that are attached to a listener, by its id. */
  readonly attachedRoutes: (listenerId: string) => number;
  readonly now: string;
}

interface StoredListener {
  readonly name: string;
  readonly conditions?: readonly StoredCondition[];
}

interface StoredStatus {
  readonly conditions?: readonly StoredCondition[];
  readonly listeners?: readonly StoredListener[];
}

/** Returns the status of a Gateway as it is to be stored. */
export function gatewayStatus(
  facts: GatewayFacts,
  stored: StoredStatus | undefined,
  holder: string,
  context: StatusContext,
): object {
  const { generation, conditions, listeners, publicAddresses, sets } = facts;
  const taken = sets.filter(({ accepted }) => accepted.status === 'True').length;
  return {
    addresses: publicAddresses,
    conditions: storedConditions(
      [...conditions, programmedOf(facts, holder, context)],
      stored?.conditions,
      generation,
      context.now,
    ),
    listeners: listeners.map((listener) => listenerStatus(listener, facts, { stored, holder, generation }, context)),
    attachedListenerSets: taken,
  };
}

/** Returns the status of a ListenerSet as it is to be stored. */
export function listenerSetStatus(
  gateway: GatewayFacts,
  set: ListenerSetFacts,
  generation: number,
  stored: StoredStatus | undefined,
  holder: string,
  context: StatusContext,
): object {
  const { accepted, listeners } = set;
  const programmed =
    accepted.status === 'True'
      ? wholeProgrammed(gateway, listeners, holder, context)
      : isFalse('Programmed', accepted.reason, accepted.message);
  return {
    conditions: storedConditions([accepted, programmed], stored?.conditions, generation, context.now),
    listeners: listeners.map((listener) => listenerStatus(listener, gateway, { stored, holder, generation }, context)),
  };
}

function programmedOf(facts: GatewayFacts, holder: string, context: StatusContext): Condition {
  const accepted = facts.conditions.find(({ type }) => type === 'Accepted');
  if (accepted?.status !== 'True')
    return isFalse(
      'Programmed',
      accepted?.reason === 'ListenersNotValid' ? 'Invalid' : (accepted?.reason ?? 'Invalid'),
      accepted?.message ?? '',
    );
  if (facts.obstacle !== undefined) return facts.obstacle;
  return wholeProgrammed(facts, facts.listeners, holder, context);
}

function wholeProgrammed(
  gateway: GatewayFacts,
  listeners: readonly ListenerFacts[],
  holder: string,
  { installed }: StatusContext,
): Condition {
  const refusal = installed.refusalOf(holder) ?? installed.fleetRefusal;
  if (refusal !== undefined) return isFalse('Programmed', 'Invalid', refusal);
  if (gateway.obstacle !== undefined) return gateway.obstacle;
  if (!installed.isInstalled(holder)) return isFalse('Programmed', 'Pending', pendingReason(installed));
  const serving = listeners.filter(({ isServing }) => isServing);
  if (serving.length === 0) return isFalse('Programmed', 'Invalid', 'no listener can be served');
  const closed = serving.find(({ entityId }) => installed.closedReason(entityId) !== undefined);
  if (closed === undefined) return isTrue('Programmed', 'Programmed', 'every proxy has it');
  return isFalse('Programmed', 'Invalid', `port ${closed.port}: ${installed.closedReason(closed.entityId)}`);
}

function listenerStatus(
  listener: ListenerFacts,
  gateway: GatewayFacts,
  frame: { readonly stored: StoredStatus | undefined; readonly holder: string; readonly generation: number },
  context: StatusContext,
): object {
  const { name, kinds, conditions } = listener;
  const before = frame.stored?.listeners?.find((each) => each.name === name)?.conditions;
  const programmed = listenerProgrammed(listener, gateway, frame.holder, context);
  return {
    name,
    supportedKinds: kinds.map((kind) => ({ group: 'gateway.networking.k8s.io', kind })),
    attachedRoutes: context.attachedRoutes(listener.id),
    conditions: storedConditions([...conditions, programmed], before, frame.generation, context.now),
  };
}

function listenerProgrammed(
  listener: ListenerFacts,
  gateway: GatewayFacts,
  holder: string,
  { installed }: StatusContext,
): Condition {
  const { conditions, isServing, entityId } = listener;
  const refused = conditions.find(({ type, status }) => type === 'Accepted' && status !== 'True');
  if (refused !== undefined)
    return isFalse('Programmed', holds(conditions, 'Conflicted') ? refused.reason : 'Invalid', refused.message);
  if (!isServing) return isFalse('Programmed', 'Invalid', 'it cannot be served');
  if (gateway.obstacle !== undefined || !installed.isInstalled(holder))
    return isFalse('Programmed', 'Pending', gateway.obstacle?.message ?? pendingReason(installed));
  const closed = installed.closedReason(entityId);
  return closed === undefined ? isTrue('Programmed') : isFalse('Programmed', 'PortUnavailable', closed);
}

const pendingReason = ({ rolloutProgress }: Installed): string => rolloutProgress ?? 'not every proxy has it yet';
