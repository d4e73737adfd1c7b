// Everything a node knows, in one place. It is changed only from inside one synchronous call into RaftCore;
// the files beside this one are the rules by which it changes.

import type { CoreSettings } from './core-settings.ts';
import type { Draft, Message } from './message.ts';
import { Outbox } from './outbox.ts';
import type { Role } from './output.ts';
import type { Progress } from './progress.ts';
import { RaftLog } from './raft-log.ts';
import { ReadRounds } from './read-rounds.ts';
import type { Rng } from './rng.ts';
import type { BootState, CheckpointMeta, Config, Index, LogPosition, MemberId, Term } from './types.ts';
import { emptyConfig } from './types.ts';

export interface CoreState {
  readonly settings: CoreSettings;
  readonly rng: Rng;
  readonly log: RaftLog;
  readonly outbox: Outbox;
  readonly reads: ReadRounds;

  term: Term;
  /** Member that this node voted for in `term`. At most one per term, for ever. */
  vote: MemberId | undefined;
  role: Role;
  leader: MemberId | undefined;

  /** The newest committed configuration, and the index of its entry. */
  config: Config;
  configIndex: Index;
  /** This identity left the configuration and can't come back. */
  removed: boolean;
  /** Position that the log of a candidate needs since then, to show that it has the removal. */
  removalEvidence: LogPosition | undefined;

  electionElapsed: number;
  heartbeatElapsed: number;
  electionTimeout: number;
  /** Ticks since this node led or had contact with a leader, in this life. */
  silentTicks: number;

  /** Candidate: number of the campaign, by which answers are matched to it. */
  nonce: number;
  votes: Map<MemberId, boolean>;

  /** Leader: one for every other member, sorted by id. */
  progress: Map<MemberId, Progress>;
  transferee: MemberId | undefined;
  /** True once the transferee was made to campaign. */
  transferSent: boolean;
  uncommittedBytes: number;
  /** Leader: true when it is no voter any more and stops leading once its peers know. */
  resigning: boolean;

  /** Entries up to here must be applied again before this node may lead. */
  readonly replayTo: Index;
  applied: Index;
  /** The program above is able to work. */
  mayLead: boolean;
  suspect: boolean;
  /** This node found that it lost data which it had acknowledged: it takes no further part. */
  poisoned: boolean;
  diskSlow: boolean;
  /** The checkpoint that is being fetched. */
  fetching: CheckpointMeta | undefined;
}

export function initialState(settings: CoreSettings, boot: BootState, applied: Index, rng: Rng): CoreState {
  const log = new RaftLog(boot, applied);
  const { term, vote } = boot.hardState;
  const above = boot.checkpoint?.index ?? 0;
  const entry = log.committedConfig(above);
  return {
    settings,
    rng,
    log,
    outbox: new Outbox(boot.hardState, Math.max(applied, boot.base.index)),
    reads: new ReadRounds(),
    term,
    vote,
    role: 'follower',
    leader: undefined,
    config: entry?.config ?? boot.checkpoint?.config ?? emptyConfig,
    configIndex: entry?.index ?? above,
    removed: false,
    removalEvidence: undefined,
    electionElapsed: 0,
    heartbeatElapsed: 0,
    electionTimeout: settings.electionTicks + rng.below(settings.electionTicks),
    silentTicks: 0,
    nonce: 0,
    votes: new Map(),
    progress: new Map(),
    transferee: undefined,
    transferSent: false,
    uncommittedBytes: 0,
    resigning: false,
    replayTo: log.committed,
    applied: Math.max(applied, boot.base.index),
    mayLead: true,
    suspect: boot.suspect,
    poisoned: false,
    diskSlow: false,
    fetching: undefined,
  };
}

/** Queues a message; term defaults to the own. The messages that each entry costs are written out by their senders. */
export function send(state: CoreState, to: MemberId, draft: Draft): void {
  const { clusterId, id } = state.settings;
  const message: Message = { clusterId, from: id, to, term: state.term, ...draft };
  state.outbox.send(message);
}

/** The leader has committed an entry of its own term: from then on its commit index is the cluster's. */
export function hasCommittedInTerm(state: CoreState): boolean {
  return state.log.term(state.log.committed) === state.term;
}

export function redrawElectionTimeout({ settings, rng }: CoreState): number {
  return settings.electionTicks + rng.below(settings.electionTicks);
}
