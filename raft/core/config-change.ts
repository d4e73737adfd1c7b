// From one configuration to the next: simple steps, entering and leaving a joint configuration.
// Configurations are immutable values; a change that makes no sense is answered with its reason.
import type { Config, Member, MemberId } from './types.ts';

export type MemberChange =
  /** New voter, or a learner that becomes one. */
  | { readonly type: 'addVoter'; readonly member: Member }
  /** New learner, or a voter that becomes one. */
  | { readonly type: 'addLearner'; readonly member: Member }
  | { readonly type: 'remove'; readonly id: MemberId }
  /** Address of a present member; never touches quorums. */
  | { readonly type: 'update'; readonly member: Member };

/** `auto` goes through a joint configuration only if more than one voter changes. Explicit ones are left by hand. */
export type Transition = 'auto' | 'implicit' | 'explicit';

export type ChangeResult =
  | { readonly kind: 'changed'; readonly config: Config }
  | { readonly kind: 'invalid'; readonly why: string };

const removedKept = 128;

export function isJoint(config: Config): boolean {
  return config.outgoing.length > 0;
}

export function isVoter(config: Config, id: MemberId): boolean {
  return config.voters.includes(id) || config.outgoing.includes(id);
}

export function isMember(config: Config, id: MemberId): boolean {
  return isVoter(config, id) || config.learners.includes(id);
}

/** Returns the ids of all members, sorted. */
export function memberIds(config: Config): MemberId[] {
  return [...new Set([...config.voters, ...config.outgoing, ...config.learners])].sort();
}

export function memberOf(config: Config, id: MemberId): Member | undefined {
  return config.members.find((member) => member.id === id);
}

/** The change a proposal asks for; no changes means: leave the joint configuration. */
export function applyChanges(config: Config, changes: readonly MemberChange[], transition: Transition): ChangeResult {
  if (changes.length === 0) return leaveJoint(config);
  if (transition !== 'auto') return enterJoint(config, changes, transition === 'implicit');
  const step = simple(config, changes);
  if (step.kind === 'changed' || isJoint(config)) return step;
  return enterJoint(config, changes, true);
}

/** At most one voter may differ between both sides: any two majorities then share a member. */
export function simple(config: Config, changes: readonly MemberChange[]): ChangeResult {
  if (isJoint(config)) return invalid("can't apply simple config change in joint config");
  const draft = new ConfigDraft(config);
  const why = draft.apply(changes);
  if (why !== undefined) return invalid(why);
  const next = draft.finish();
  if (differences(config.voters, next.voters) > 1)
    return invalid('more than one voter changed without entering joint config');
  return { kind: 'changed', config: next };
}

export function enterJoint(config: Config, changes: readonly MemberChange[], autoLeave: boolean): ChangeResult {
  if (isJoint(config)) return invalid('config is already joint');
  if (config.voters.length === 0) return invalid("can't make a zero-voter config joint");
  const draft = new ConfigDraft({ ...config, outgoing: config.voters, autoLeave });
  const why = draft.apply(changes);
  return why === undefined ? { kind: 'changed', config: draft.finish() } : invalid(why);
}

export function leaveJoint(config: Config): ChangeResult {
  if (!isJoint(config)) return invalid("can't leave a non-joint config");
  const learners = [...config.learners, ...config.learnersNext];
  const draft = new ConfigDraft({ ...config, learners, learnersNext: [], outgoing: [], autoLeave: false });
  return { kind: 'changed', config: draft.finish() };
}

const invalid = (why: string): ChangeResult => ({ kind: 'invalid', why });

function differences(before: readonly MemberId[], after: readonly MemberId[]): number {
  const gone = before.filter((id) => !after.includes(id)).length;
  const added = after.filter((id) => !before.includes(id)).length;
  return gone + added;
}

/** A configuration while changes are applied to it. */
class ConfigDraft {
  readonly #from: Config;
  readonly #voters: Set<MemberId>;
  readonly #learners: Set<MemberId>;
  readonly #learnersNext: Set<MemberId>;
  readonly #members: Map<MemberId, Member>;

  constructor(from: Config) {
    this.#from = from;
    this.#voters = new Set(from.voters);
    this.#learners = new Set(from.learners);
    this.#learnersNext = new Set(from.learnersNext);
    this.#members = new Map(from.members.map((member) => [member.id, member]));
  }

  apply(changes: readonly MemberChange[]): string | undefined {
    for (const change of changes) {
      const error = this.#applyOne(change);
      if (error !== undefined) return error;
    }
    return this.#voters.size === 0 ? 'removed all voters' : undefined;
  }

  #applyOne(change: MemberChange): string | undefined {
    if (change.type === 'remove') return this.#remove(change.id);
    const { member } = change;
    if (this.#from.removed.includes(member.id)) return `${member.id} was removed and may not return`;
    if (change.type === 'update' && !this.#members.has(member.id)) return `${member.id} is not a member`;
    this.#members.set(member.id, member);
    if (change.type === 'addVoter') this.#makeVoter(member.id);
    if (change.type === 'addLearner') this.#makeLearner(member.id);
    return undefined;
  }

  #makeVoter(id: MemberId): void {
    this.#learners.delete(id);
    this.#learnersNext.delete(id);
    this.#voters.add(id);
  }

  /** While it still votes in the outgoing half it can't be a learner too: it becomes one on leaving. */
  #makeLearner(id: MemberId): void {
    if (this.#learners.has(id)) return;
    this.#voters.delete(id);
    if (this.#from.outgoing.includes(id)) this.#learnersNext.add(id);
    else this.#learners.add(id);
  }

  #remove(id: MemberId): undefined {
    this.#voters.delete(id);
    this.#learners.delete(id);
    this.#learnersNext.delete(id);
  }

  finish(): Config {
    const { outgoing, autoLeave } = this.#from;
    const voters = [...this.#voters].sort();
    const learners = [...this.#learners].sort();
    const present = new Set([...voters, ...outgoing, ...learners]);
    const all = [...this.#members.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const gone = all.filter(({ id }) => !present.has(id)).map(({ id }) => id);
    return {
      voters,
      outgoing,
      learners,
      learnersNext: [...this.#learnersNext].sort(),
      autoLeave,
      members: all.filter(({ id }) => present.has(id)),
      removed: [...this.#from.removed, ...gone].slice(-removedKept),
    };
  }
}
