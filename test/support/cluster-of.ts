// A cluster as ClusterAdmin sees it, without raft: what it says is set by the test, what is asked of it can be looked at.
import type { MemberStatus, Outcome } from '../../raft/index.ts';
import type { Cluster } from '../../src/cluster/members/cluster.ts';

type Change = Parameters<Cluster['change']>[0];

const member = (nodeId: string, incarnation: number) => ({
  id: `${nodeId}#${incarnation}`,
  address: `10.0.0.${incarnation}:7000`,
  clientAddress: `10.0.0.${incarnation}:8080`,
});

/** Voters a, b, c (incarnations 1, 2, 3) and learner d (4), led by a, as a sees it. */
export const statusOfFour: MemberStatus = {
  clusterId: 'cluster-a',
  id: 'a#1',
  role: 'leader',
  term: 3,
  leader: 'a#1',
  commit: 40,
  applied: 40,
  firstIndex: 1,
  lastIndex: 41,
  lastTerm: 1,
  suspect: false,
  config: {
    voters: ['a#1', 'b#2', 'c#3'],
    outgoing: [],
    learners: ['d#4'],
    learnersNext: [],
    autoLeave: false,
    members: [member('a', 1), member('b', 2), member('c', 3), member('d', 4)],
    removed: [],
  },
  peers: [
    { id: 'b#2', state: 'replicate', match: 41, next: 42, inflight: 0, heard: true },
    { id: 'c#3', state: 'probe', match: 12, next: 13, inflight: 0, heard: false },
    { id: 'd#4', state: 'replicate', match: 40, next: 41, inflight: 1, heard: true },
  ],
  candidates: [member('d', 4), member('e', 5)],
  transport: undefined,
  checkpoint: { index: 30, time: 1_000_000, size: 5_000 },
  syncOutstandingMs: 0,
  clockOffsets: { 'b#2': 250, 'd#4': -12_000 },
  heardMs: { 'b#2': 100, 'd#4': 100 },
  counts: {
    syncs: { bounds: [0.001, 0.01], counts: [3, 2, 1], sum: 0.5 },
    loopLag: { bounds: [0.001, 0.01], counts: [9, 0, 0], sum: 0.001 },
    elections: { preVotes: 2, campaigns: 1, won: 1 },
    leaderChanges: 3,
    transfers: { begun: 2, failed: 1, installed: 0 },
  },
};

export const statusOfOne: MemberStatus = {
  ...statusOfFour,
  id: 'single#1',
  leader: 'single#1',
  config: {
    ...statusOfFour.config,
    voters: ['single#1'],
    learners: [],
    members: [{ id: 'single#1', address: '', clientAddress: '' }],
  },
  peers: [],
  candidates: [],
};

export class ClusterOf implements Cluster {
  readonly clustered: boolean;
  readonly changes: { readonly change: Change; readonly force: boolean | undefined }[] = [];
  readonly transfers: (string | undefined)[] = [];
  now: MemberStatus | undefined;
  /** Answers the next changes; a committed one does not change `now` unless this does. */
  outcome: (change: Change) => Outcome = () => ({ kind: 'committed', index: 42 });
  onTransfer: () => void = () => undefined;

  constructor(now: MemberStatus | undefined, clustered = true) {
    this.now = now;
    this.clustered = clustered;
  }

  get clusterId(): string | undefined {
    return this.now?.clusterId;
  }

  async status(): Promise<MemberStatus | undefined> {
    return this.now;
  }

  async change(change: Change, options?: { readonly force?: boolean }): Promise<Outcome> {
    this.changes.push({ change, force: options?.force });
    return this.outcome(change);
  }

  transfer(to: string | undefined): void {
    this.transfers.push(to);
    this.onTransfer();
  }
}
