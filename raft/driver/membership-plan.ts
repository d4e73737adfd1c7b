// Membership plan: turns a request of an operator into a change of the configuration, or gives the reason why it would
// be unwise now.
import { isJoint, isVoter, type MemberChange, memberOf } from '../core/config-change.ts';
import { isHeard, isSound } from '../core/leader.ts';
import { hasQuorum } from '../core/quorum.ts';
import type { CoreState } from '../core/state.ts';
import { type Config, identityOf, type Member, type MemberId } from '../core/types.ts';
import type { MembershipChange, Refusal } from './driver-host.ts';
import type { DriverSettings } from './driver-settings.ts';

export type Plan =
  | {
      readonly kind: 'plan';
      readonly changes: readonly MemberChange[];
      readonly target: (config: Config) => boolean;
    }
  | { readonly kind: 'refused'; readonly why: Refusal };

/** `target` holds for the configuration in which the change is complete. */
export function planChange(
  state: Readonly<CoreState>,
  change: MembershipChange,
  settings: DriverSettings,
  force: boolean,
): Plan {
  if (state.role !== 'leader') return { kind: 'refused', why: 'not leader' };
  const changes = changesFor(state, change);
  if (changes === undefined) return { kind: 'refused', why: 'invalid change' };
  const why = force ? undefined : refusal(state, change, settings);
  return why === undefined ? { kind: 'plan', changes, target: targetOf(change) } : { kind: 'refused', why };
}

function changesFor(state: Readonly<CoreState>, change: MembershipChange): MemberChange[] | undefined {
  const { config } = state;
  if (change.op === 'addLearner') {
    const { member } = change;
    if (memberOf(config, member.id) !== undefined) return undefined;
    return [
      ...formerLives(state, member.id).map((id) => ({ type: 'remove' as const, id })),
      { type: 'addLearner', member },
    ];
  }
  if (change.op === 'update') return [{ type: 'update', member: change.member }];
  const member = memberOf(config, change.id);
  if (member === undefined) return undefined;
  if (change.op === 'remove') return [{ type: 'remove', id: change.id }];
  if (change.op === 'promote') return promotion(config, member);
  if (change.op === 'demote') return isVoter(config, change.id) ? [{ type: 'addLearner', member }] : undefined;
  const by = memberOf(config, change.by);
  const promote = by && promotion(config, by);
  return promote && isVoter(config, change.id) ? [...promote, { type: 'remove', id: change.id }] : undefined;
}

/** Silent learners of that name: the store of each is lost, or it would have come back with its old identity. */
function formerLives(state: Readonly<CoreState>, id: MemberId): MemberId[] {
  const { nodeId } = identityOf(id);
  return state.config.learners.filter((other) => identityOf(other).nodeId === nodeId && !isHeard(state, other));
}

function promotion(config: Config, member: Member): MemberChange[] | undefined {
  return isVoter(config, member.id) ? undefined : [{ type: 'addVoter', member }];
}

function refusal(state: Readonly<CoreState>, change: MembershipChange, settings: DriverSettings): Refusal | undefined {
  const { config } = state;
  if (change.op === 'addLearner') {
    const catchingUp = config.learners.filter((id) => isHeard(state, id) && !hasCaughtUp(state, id, settings));
    return catchingUp.length >= settings.maxCatchingUp ? 'not caught up' : undefined;
  }
  if (change.op === 'update') return undefined;
  const newVoter = change.op === 'promote' ? change.id : change.op === 'replace' ? change.by : undefined;
  if (newVoter !== undefined && !hasCaughtUp(state, newVoter, settings)) return 'not caught up';
  const voters = votersAfter(config, change);
  if (voters.length > settings.maxVoters) return 'invalid change';
  const isSafe = hasQuorum({ voters, outgoing: isJoint(config) ? config.outgoing : [] }, (id) => isSound(state, id));
  return isSafe ? undefined : 'quorum at risk';
}

function hasCaughtUp(state: Readonly<CoreState>, id: MemberId, settings: DriverSettings): boolean {
  const match = state.progress.get(id)?.match ?? 0;
  return isSound(state, id) && match > 0 && match + settings.caughtUpEntries >= state.log.committed;
}

function votersAfter(config: Config, change: MembershipChange): MemberId[] {
  if (change.op === 'promote') return [...config.voters, change.id];
  const gone = change.op === 'addLearner' || change.op === 'update' ? undefined : change.id;
  const stay = config.voters.filter((id) => id !== gone);
  return change.op === 'replace' ? [...stay, change.by] : stay;
}

function targetOf(change: MembershipChange): (config: Config) => boolean {
  const holds = settled(change);
  return (config) => !isJoint(config) && holds(config);
}

function settled(change: MembershipChange): (config: Config) => boolean {
  switch (change.op) {
    case 'addLearner':
    case 'update':
      return (config) => memberOf(config, change.member.id)?.address === change.member.address;
    case 'promote':
      return (config) => config.voters.includes(change.id);
    case 'demote':
      return (config) => config.learners.includes(change.id);
    case 'remove':
      return (config) => memberOf(config, change.id) === undefined;
    case 'replace':
      return (config) => config.voters.includes(change.by) && memberOf(config, change.id) === undefined;
  }
}
