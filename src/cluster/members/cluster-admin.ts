// Cluster administration in the terms of an operator: members by their nodeId, refusals as statuses. The API calls it
// on every node; a node that does not lead answers so, and the API asks the leader's instead.

import { identityOf, type Member, type MemberId, type MemberStatus, type Outcome } from '../../../raft/index.ts';
import { SluiceError } from '../../errors.ts';
import type { ClusterOverview, MemberView } from '../../model/answers/cluster-answers.ts';
import { parseAuthority } from '../../model/host-name.ts';
import type { Clock } from '../../util/clock.ts';
import type { Cluster } from './cluster.ts';
import { candidatesOf, overviewOf } from './cluster-overview.ts';

/** Time limit for a leader to hand over, or to report that it could not. */
const transferMs = 3_000;
const lookMs = 20;

type Change = Parameters<Cluster['change']>[0];

interface Authors {
  /** Undefined: the change came to nothing. */
  attribute(id: MemberId, by: string | undefined): void;
}

export class ClusterAdmin {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #authors: Authors | undefined;

  /** @param authors gets the caller of a change of a member, before the change. */
  constructor(cluster: Cluster, clock: Clock, authors?: Authors) {
    this.#authors = authors;
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /** API address of the leader, if it is another node: `''` when it advertises none. */
  async elsewhere(): Promise<string | undefined> {
    const status = await this.#cluster.status();
    if (status?.leader === undefined || status.leader === status.id) return undefined;
    return status.config.members.find(({ id }) => id === status.leader)?.clientAddress ?? '';
  }

  async overview(): Promise<ClusterOverview> {
    return overviewOf(await this.#status(), this.#cluster.clustered);
  }

  /**
   * Makes a node that waits for a cluster a learner. `address` is its address for peers; the node must be connected,
   * for only then its identity is known. Naming a learner again changes nothing. Throws INVALID for an impossible
   * address, but takes one from the node's own greeting: a node found by DNS may announce `:7000`.
   */
  async add({ nodeId, address }: { nodeId: string; address: string }, by?: string): Promise<MemberView> {
    const status = await this.#status();
    const { candidates, config } = status;
    const isMeant = (member: Member): boolean => identityOf(member.id).nodeId === nodeId && member.address === address;
    if (parseAuthority(address)?.port === undefined && ![...candidates, ...config.members].some(isMeant)) {
      throw new SluiceError('INVALID', '/address must be host:port, for example 10.0.0.4:7000');
    }
    this.#needLead(status);
    const candidate = candidatesOf(status).find(isMeant);
    if (candidate === undefined) return await this.#present(status.config.members.filter(isMeant), { nodeId, address });
    await this.#change({ op: 'addLearner', member: candidate }, candidate.id, by);
    return await this.#view(candidate.id);
  }

  /** A learner that caught up votes from now on. Promoting a voter changes nothing. */
  async promote(nodeId: string, by?: string): Promise<MemberView> {
    const status = await this.#leading();
    const { voters, learners } = status.config;
    const learner = only(status, nodeId, learners);
    const id = learner ?? need(status, nodeId, voters);
    if (learner !== undefined) await this.#change({ op: 'promote', id: learner }, learner, by);
    return await this.#view(id);
  }

  /**
   * The learner `by` votes in the place of the voter `nodeId`, in one step. Both may have the same name. Repeating a
   * replacement changes nothing.
   */
  async replace(nodeId: string, by: string, caller?: string): Promise<MemberView> {
    const status = await this.#leading();
    const isGone = membersNamed(status, nodeId).length === 0;
    const voter = isGone ? only(status, by, status.config.voters) : undefined;
    if (voter !== undefined) return await this.#view(voter);
    const id = need(status, nodeId, status.config.voters);
    const replacement = need(status, by, status.config.learners);
    await this.#change({ op: 'replace', id, by: replacement }, id, caller);
    return await this.#view(replacement);
  }

  /** @param force also when the members that are left and reachable are no quorum. */
  async remove(nodeId: string, force: boolean, by?: string): Promise<void> {
    const status = await this.#leading();
    const { voters, learners } = status.config;
    if (voters.length === 1 && only(status, nodeId, voters) !== undefined) {
      throw new SluiceError('CONFLICT', `${nodeId} is the only voter: no member would be left to decide anything`);
    }
    const id = need(status, nodeId, [...voters, ...learners]);
    await this.#change({ op: 'remove', id }, id, by, force);
  }

  /**
   * Resolves with the nodeId of the new leader. Without `to` it is the most up-to-date voter. Where another node than `from`
   * leads nothing moves: a repeated transfer finds that the first one was carried out.
   */
  async transfer(to: string | undefined, from?: string): Promise<string> {
    const status = await this.#leading();
    if (from !== undefined && !membersOf(status, from).some(({ id }) => id === status.id))
      return identityOf(status.id).nodeId;
    const target = to === undefined ? undefined : need(status, to, status.config.voters);
    if (target === status.id) return identityOf(target).nodeId;
    if (status.config.voters.length === 1) throw new SluiceError('CONFLICT', 'there is no other voter to lead');
    this.#cluster.transfer(target);
    return await this.#leaderAfter(status.id);
  }

  /** An earlier life may still be a member under the same name and address: the latest is a learner. */
  async #present(members: readonly Member[], { nodeId, address }: { nodeId: string; address: string }) {
    const views = await Promise.all(members.map(({ id }) => this.#view(id)));
    const view = views.find(({ role }) => role === 'learner') ?? views[0];
    if (view !== undefined) return view;
    throw new SluiceError('CONFLICT', `no node ${nodeId} at ${address} waits for this cluster: start it first`);
  }

  async #leaderAfter(former: MemberId): Promise<string> {
    const end = this.#clock.monotonicMs() + transferMs;
    while (this.#clock.monotonicMs() < end) {
      const leader = (await this.#cluster.status())?.leader;
      if (leader !== undefined && leader !== former) return identityOf(leader).nodeId;
      await new Promise<void>((resolve) => void this.#clock.after(lookMs, resolve));
    }
    throw new SluiceError('UNAVAILABLE', 'leadership did not move: no other voter is up to date and reachable');
  }

  async #change(change: Change, about: MemberId, by: string | undefined, force = false): Promise<void> {
    this.#authors?.attribute(about, by);
    const outcome = await this.#cluster.change(change, { force });
    if (outcome.kind === 'committed') return;
    this.#authors?.attribute(about, undefined);
    throw change.op === 'addLearner' && outcome.why === 'not caught up'
      ? new SluiceError('CONFLICT', await this.#catchingUp())
      : refusalOf(outcome);
  }

  /** Names the learners that keep another one out. */
  async #catchingUp(): Promise<string> {
    const { config, peers } = await this.#status();
    const heard = config.learners.filter((id) => peers.some((peer) => peer.id === id && peer.heard));
    return `these learners have to catch up first: ${heard.map((id) => identityOf(id).nodeId).join(', ')}`;
  }

  async #view(id: MemberId): Promise<MemberView> {
    const { members } = await this.overview();
    const view = members.find(({ nodeId, incarnation }) => `${nodeId}#${incarnation}` === id);
    if (view === undefined) throw new SluiceError('UNAVAILABLE', `the membership of ${id} is changing`);
    return view;
  }

  async #leading(): Promise<MemberStatus> {
    const status = await this.#status();
    this.#needLead(status);
    return status;
  }

  #needLead({ role }: MemberStatus): void {
    if (role !== 'leader') throw new SluiceError('UNAVAILABLE', 'no node leads the cluster at the moment');
    if (!this.#cluster.clustered) {
      throw new SluiceError('CONFLICT', 'this is a cluster of one: a raft section in the settings lets others join');
    }
  }

  async #status(): Promise<MemberStatus> {
    const status = await this.#cluster.status();
    if (status === undefined) throw new SluiceError('UNAVAILABLE', 'this node belongs to no cluster yet');
    return status;
  }
}

/** Members of that name; of more than one by an earlier life, or the one whose whole id was given. */
function membersNamed({ config }: MemberStatus, name: string): readonly Member[] {
  return config.members.filter(({ id }) => id === name || identityOf(id).nodeId === name);
}

/** The one of that name among `ids`; undefined when there is none. */
function only(status: MemberStatus, name: string, ids: readonly MemberId[]): MemberId | undefined {
  const [found, another] = membersNamed(status, name).filter(({ id }) => ids.includes(id));
  if (another === undefined) return found?.id;
  throw new SluiceError('CONFLICT', `${name} names ${found?.id} and ${another.id}: give one of these`);
}

/** Members of that name. Throws NOT_FOUND where there is none. */
function membersOf(status: MemberStatus, name: string): readonly Member[] {
  const members = membersNamed(status, name);
  if (members.length === 0) throw new SluiceError('NOT_FOUND', `member ${JSON.stringify(name)} not found`);
  return members;
}

function need(status: MemberStatus, name: string, ids: readonly MemberId[]): MemberId {
  const id = only(status, name, ids);
  if (id !== undefined) return id;
  membersOf(status, name);
  const isVoter = ids === status.config.voters;
  throw new SluiceError('CONFLICT', `member ${JSON.stringify(name)} is ${isVoter ? 'no voter' : 'no learner'}`);
}

const conflicts: Readonly<Record<string, string>> = {
  'quorum at risk': 'the voters that can be reached would be no quorum afterwards; ?force=true does it anyway',
  'not caught up': 'the learner has not caught up yet',
  'invalid change': 'the change does not fit the present members',
};

function refusalOf(outcome: Exclude<Outcome, { kind: 'committed' }>): SluiceError {
  const { kind, why } = outcome;
  if (kind === 'unknown') {
    return new SluiceError('OUTCOME_UNKNOWN', `it is unknown whether the members change: ${why}`, {
      body: { outcome: 'unknown' },
    });
  }
  const conflict = conflicts[why];
  if (conflict !== undefined) return new SluiceError('CONFLICT', conflict);
  return new SluiceError('UNAVAILABLE', `the members are as before: ${why}`);
}
