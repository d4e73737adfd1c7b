// The consensus protocol as one synchronous object: inputs change its state, `drain` hands out what has to be
// written, sent and applied. No clock, no chance but the given one, no I/O: equal inputs give equal outputs.
// The driver owns the only instance of a node and is the only caller.

import type { MemberChange, Transition } from './config-change.ts';
import type { CoreSettings } from './core-settings.ts';
import {
  answerPoll,
  campaign,
  countOwnVote,
  holdsOn,
  isPromotable,
  onPreVote,
  onPreVoteResp,
  onVote,
  onVoteResp,
} from './election.ts';
import { answerOutdatedLeader, installCheckpoint, onAppend, onCheckpointBegin, onHeartbeat } from './follower.ts';
import {
  bestSuccessor,
  leaderTick,
  leaderTurn,
  onAppendResp,
  onHeartbeatResp,
  type Proposal,
  type ProposeResult,
  propose,
  proposeConfig,
  resign,
  transferTo,
} from './leader.ts';
import { noteRemoved } from './leaving-voter.ts';
import type { Message } from './message.ts';
import type { CoreOutput } from './output.ts';
import { addRead, read } from './reading.ts';
import { offerCheckpoint } from './replication.ts';
import type { Rng } from './rng.ts';
import { becomeFollower } from './role.ts';
import { isStranger } from './senders.ts';
import { type CoreState, initialState, redrawElectionTimeout, send } from './state.ts';
import {
  type BootState,
  type CheckpointMeta,
  type Config,
  type Entry,
  emptyConfig,
  type Index,
  type LogPosition,
  type MemberId,
} from './types.ts';

export class RaftCore {
  readonly #state: CoreState;

  /** `applied`: what the state machine holds durably. */
  constructor(settings: CoreSettings, boot: BootState, applied: Index, rng: Rng) {
    this.#state = initialState(settings, boot, applied, rng);
  }

  /** For metrics, tests and checkers. */
  inspect(): Readonly<CoreState> {
    return this.#state;
  }

  tick(): void {
    const state = this.#state;
    state.silentTicks = state.role === 'leader' ? 0 : state.silentTicks + 1;
    if (state.role === 'leader') leaderTick(state);
    else this.#followerTick(state);
  }

  #followerTick(state: CoreState): void {
    state.electionElapsed += 1;
    const { voters, outgoing } = state.config;
    const isAlone = voters.length === 1 && outgoing.length === 0 && voters[0] === state.settings.id;
    if (state.electionElapsed < state.electionTimeout && !(isAlone && state.role === 'follower')) return;
    state.electionElapsed = 0;
    // The member that offered the checkpoint is gone.
    state.fetching = undefined;
    if (isPromotable(state)) campaign(state, false);
    // A node that may not lead must not hold on to a leader that is gone, or it could refuse its vote for ever.
    else if (state.leader !== undefined) becomeFollower(state, state.term, undefined);
  }

  /** As if the election timer had fired. */
  campaign(): void {
    campaign(this.#state, false);
  }

  /** Draws a new election timeout, as a change of role does. */
  redrawElectionTimeout(): void {
    this.#state.electionTimeout = redrawElectionTimeout(this.#state);
  }

  /** The node did not run for a while: it must not act on what it last knew. */
  stalled(ticks: number): void {
    const state = this.#state;
    if (state.role === 'leader' && ticks > state.settings.electionTicks) becomeFollower(state, state.term, undefined);
    else if (state.role !== 'leader') state.electionElapsed = 0;
  }

  step(message: Message): void {
    const state = this.#state;
    if (state.poisoned) return;
    const why = this.#strange(message);
    const { from, type } = message;
    if (why !== undefined) state.outbox.event({ type: 'ignored', message: type, why });
    else if (isStranger(state, message)) state.outbox.event({ type: 'stranger', from, message: type });
    else if (message.type === 'removed') this.#onRemoved(message.index);
    else if (message.term < state.term) this.#stepLowerTerm(message);
    else if (message.term === state.term || this.#adopts(message)) this.#stepSameTerm(message);
  }

  #strange({ clusterId, from, term, to, type }: Message): string | undefined {
    const { config, configIndex, leader, settings, term: ownTerm } = this.#state;
    if (clusterId !== settings.clusterId) return 'another cluster';
    if (to !== settings.id) return 'another identity';
    if (!config.removed.includes(from)) return undefined;
    // Last message of a leader that left: the news of its leaving may have come just before.
    if (type === 'timeoutNow' && from === leader && term === ownTerm) return undefined;
    if (type === 'preVote' || type === 'vote') send(this.#state, from, { type: 'removed', index: configIndex });
    return 'removed member';
  }

  /** Adopts the higher term of a message; false when the message is to be dropped without a trace. */
  #adopts(message: Message): boolean {
    const state = this.#state;
    const { type, term, from } = message;
    if ((type === 'preVote' || type === 'vote') && holdsOn(state, message)) {
      state.outbox.event({ type: 'ignored', message: type, why: 'the leader is heard' });
      return false;
    }
    if (type === 'preVote' || (type === 'preVoteResp' && message.granted)) return true;
    const isLeader = type === 'append' || type === 'heartbeat' || type === 'checkpointBegin';
    becomeFollower(state, term, isLeader ? from : undefined);
    return true;
  }

  #onRemoved(index: Index): void {
    const state = this.#state;
    if (state.role === 'leader') becomeFollower(state, state.term, undefined);
    noteRemoved(state, index);
  }

  /**
   * Answers a sender that lags behind with the term, or it could wait for ever; other messages of lower terms are
   * dropped.
   */
  #stepLowerTerm(message: Message): void {
    const state = this.#state;
    const { from } = message;
    switch (message.type) {
      case 'append':
      case 'heartbeat':
      case 'checkpointBegin':
        answerOutdatedLeader(state, from);
        break;
      case 'preVote':
        answerPoll(state, message, false);
        break;
      case 'readIndexReq':
        addRead(state, { id: message.id, from });
        break;
      default:
        state.outbox.event({ type: 'ignored', message: message.type, why: 'lower term' });
    }
  }

  #stepSameTerm(message: Message): void {
    const state = this.#state;
    switch (message.type) {
      case 'preVote':
        onPreVote(state, message);
        break;
      case 'preVoteResp':
        onPreVoteResp(state, message);
        break;
      case 'vote':
        onVote(state, message);
        break;
      case 'voteResp':
        onVoteResp(state, message);
        break;
      case 'append':
        onAppend(state, message);
        break;
      case 'heartbeat':
        onHeartbeat(state, message);
        break;
      case 'checkpointBegin':
        onCheckpointBegin(state, message);
        break;
      case 'timeoutNow':
        campaign(state, true);
        break;
      case 'readIndexReq':
        addRead(state, { id: message.id, from: message.from });
        break;
      case 'readIndexResp':
        state.outbox.read(message.id, message.index);
        break;
      case 'appendResp':
        if (state.role === 'leader') onAppendResp(state, message);
        break;
      case 'heartbeatResp':
        if (state.role === 'leader') onHeartbeatResp(state, message);
        break;
      case 'checkpointChunk':
      case 'checkpointAck':
      case 'removed':
        // Messages of the driver.
        break;
      default:
        // A new type of message does not compile until it has its case.
        message satisfies never;
    }
  }

  propose(proposals: readonly Proposal[]): ProposeResult[] {
    return proposals.map((proposal) => propose(this.#state, proposal));
  }

  /** No changes: leave a joint configuration that was entered explicitly. */
  proposeConfig(changes: readonly MemberChange[], transition: Transition, time: number): ProposeResult {
    return proposeConfig(this.#state, changes, transition, time);
  }

  /** `id` is fresh for each attempt; the answer comes in an output's `reads`, or never. */
  read(id: number): void {
    read(this.#state, id);
  }

  /** False when the target can't take over. Given up after one election timeout. */
  transferTo(target: MemberId): boolean {
    return transferTo(this.#state, target);
  }

  /** Output `seq` and all before it are durable. */
  persisted(seq: number): void {
    this.#state.outbox.persisted(seq);
    this.#state.log.saved(seq);
    countOwnVote(this.#state);
  }

  applied(index: Index): void {
    this.#state.applied = Math.max(this.#state.applied, index);
  }

  offerCheckpoint(peer: MemberId, meta: CheckpointMeta, transfer: number): boolean {
    return offerCheckpoint(this.#state, peer, meta, transfer);
  }

  /** The transfer to `peer` ended without an answer of its log. */
  checkpointFailed(peer: MemberId): void {
    const progress = this.#state.progress.get(peer);
    if (progress?.state !== 'checkpoint') return;
    progress.pendingCheckpoint = 0;
    progress.becomeWaitingProbe();
    this.#state.outbox.event({ type: 'progress', peer, state: 'probe' });
  }

  checkpointReady(meta: CheckpointMeta): boolean {
    return installCheckpoint(this.#state, meta);
  }

  /** Appends to this peer were lost for sure. */
  peerUnreachable(peer: MemberId): void {
    const progress = this.#state.progress.get(peer);
    if (progress?.state !== 'replicate') return;
    progress.becomeProbe();
    this.#state.outbox.event({ type: 'progress', peer, state: 'probe' });
  }

  /** Sets whether the program above can work, and whether the disk answers in time. */
  health({ mayLead, diskSlow }: { readonly mayLead: boolean; readonly diskSlow: boolean }): void {
    this.#state.mayLead = mayLead;
    this.#state.diskSlow = diskSlow;
  }

  /** Forgets entries up to `index`, which a verified checkpoint covers. */
  compactTo(index: Index): LogPosition {
    return this.#state.log.compactTo(index);
  }

  entry(index: Index): Entry | undefined {
    return this.#state.log.entry(index);
  }

  /** The configuration in force at an applied index, given the newest checkpoint before it. */
  configAt(index: Index, before: CheckpointMeta | undefined): Config {
    const { config, configIndex, log } = this.#state;
    if (configIndex <= index) return config;
    return log.configAt(index)?.config ?? before?.config ?? emptyConfig;
  }

  /** Returns the voter that can take over soonest: active, and with the longest matching log. */
  bestSuccessor(): MemberId | undefined {
    return bestSuccessor(this.#state);
  }

  /** Stops leading at once; the best successor is made to campaign. */
  resign(): void {
    resign(this.#state);
  }

  /** Everything that came of the inputs since the last call, or null when nothing did. */
  drain(): CoreOutput | null {
    const state = this.#state;
    if (state.role === 'leader') leaderTurn(state);
    return state.outbox.take(state.log, state.term, state.vote);
  }
}
