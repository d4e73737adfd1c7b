// Metrics of raft (raft.md A22). Made afresh from its status each time: nothing is kept here that could be out of
// date.
import { Counter, Gauge, Registry } from 'prom-client';
import { identityOf, type MemberStatus, type PeerStatus } from '../../../raft/index.ts';
import { addHistogram } from '../../telemetry/counted-histogram.ts';

export interface RaftReport {
  /** Undefined while this node belongs to no cluster, and after its end. */
  readonly status: MemberStatus | undefined;
  /** Why this node takes no part any more; undefined while it does. */
  readonly failed: string | undefined;
  /** Unix ms. */
  readonly nowMs: number;
}

export function raftMetrics({ status, failed, nowMs }: RaftReport): Registry {
  const families = new Families();
  families.gauge('poisoned', '1 when this node has left the cluster for good: its log or state cannot be trusted.', [
    [{}, Number(failed !== undefined)],
  ]);
  if (status === undefined) return families.registry;
  addMember(families, status, nowMs);
  addClocks(families.registry, status);
  if (status.role === 'leader') addPeers(families, status);
  addTotals(families, status);
  addHistogram(
    families.registry,
    `${prefix}fsync_seconds`,
    'Time that the disk took for a synced write of the log.',
    status.counts.syncs,
  );
  addHistogram(
    families.registry,
    `${prefix}loop_lag_seconds`,
    'By how much ticks of the raft thread come late.',
    status.counts.loopLag,
  );
  return families.registry;
}

const prefix = 'sluice_raft_';

type Labels = Readonly<Record<string, string>>;
type Series = readonly (readonly [Labels, number])[];

class Families {
  readonly registry = new Registry();

  gauge(name: string, help: string, series: Series): void {
    const gauge = new Gauge(this.#configuration(name, help, series));
    for (const [labels, value] of series) gauge.set(labels, value);
  }

  counter(name: string, help: string, series: Series): void {
    const counter = new Counter(this.#configuration(name, help, series));
    for (const [labels, value] of series) counter.inc(labels, value);
  }

  #configuration(name: string, help: string, series: Series) {
    const labelNames = Object.keys(series[0]?.[0] ?? {});
    return { name: `${prefix}${name}`, help, labelNames, registers: [this.registry] };
  }
}

const numbers: readonly [
  name: string,
  help: string,
  of: (status: MemberStatus, nowMs: number) => number | undefined,
][] = [
  ['term', 'Counts elections; the same on all nodes that are connected.', ({ term }) => term],
  ['commit_index', 'Last index that this node knows to be agreed on.', ({ commit }) => commit],
  ['applied_index', 'Last index that is in the state of this node.', ({ applied }) => applied],
  ['first_index', 'First index that the log still holds.', ({ firstIndex }) => firstIndex],
  ['last_index', 'Last index in the log of this node.', ({ lastIndex }) => lastIndex],
  ['voters', 'Members that vote.', ({ config }) => config.voters.length],
  ['learners', 'Members that follow and do not vote.', ({ config }) => config.learners.length],
  ['checkpoint_index', 'Last index that the newest checkpoint holds.', ({ checkpoint }) => checkpoint?.index],
  ['checkpoint_bytes', 'Size of the newest checkpoint.', ({ checkpoint }) => checkpoint?.size],
  [
    'checkpoint_age_seconds',
    'Time since what the newest checkpoint ends with was written.',
    ({ checkpoint }, nowMs) => checkpoint && Math.max(0, nowMs - checkpoint.time) / 1000,
  ],
  [
    'fsync_outstanding_seconds',
    'For how long the disk has owed an answer; 0 when it owes none.',
    ({ syncOutstandingMs }) => syncOutstandingMs / 1000,
  ],
  [
    'suspect',
    '1 while this node may have lost its last writes and neither votes nor leads.',
    ({ suspect }) => Number(suspect),
  ],
];

const peerNumbers: readonly [name: string, help: string, of: (peer: PeerStatus, status: MemberStatus) => number][] = [
  ['match_index', 'Last index that the leader knows the peer to hold.', ({ match }) => match],
  ['next_index', 'Next index that the leader will send to the peer.', ({ next }) => next],
  [
    'lag_entries',
    'Entries that the peer is behind the commit index of the leader.',
    ({ match }, { commit }) => Math.max(0, commit - match),
  ],
  ['inflight_messages', 'Appends on their way from the leader to the peer.', ({ inflight }) => inflight],
  ['heard', '1 when the leader heard of the peer within the last election timeout.', ({ heard }) => Number(heard)],
];

const states: readonly PeerStatus['state'][] = ['probe', 'replicate', 'checkpoint'];
const roles = ['leader', 'follower', 'candidate', 'learner'] as const;

function roleOf({ id, role, config }: MemberStatus): (typeof roles)[number] {
  if (role === 'leader') return role;
  if (config.learners.includes(id)) return 'learner';
  return role === 'follower' ? role : 'candidate';
}

function addMember(families: Families, status: MemberStatus, nowMs: number): void {
  const own = roleOf(status);
  families.gauge(
    'role',
    'What this node is: 1 for that, 0 for the others.',
    roles.map((role) => [{ role }, Number(role === own)]),
  );
  const { leader } = status;
  if (leader !== undefined)
    families.gauge('leader', 'Who leads, as far as this node knows.', [[{ node: identityOf(leader).nodeId }, 1]]);
  for (const [name, help, of] of numbers) {
    const value = of(status, nowMs);
    if (value !== undefined) families.gauge(name, help, [[{}, value]]);
  }
}

function addClocks(registry: Registry, { clockOffsets }: MemberStatus): void {
  const gauge = new Gauge({
    name: 'sluice_clock_offset_seconds',
    help: 'Seconds that the clock of the peer is ahead of that of this node; followers hear the leader alone.',
    labelNames: ['peer'],
    registers: [registry],
  });
  for (const [id, offsetMs] of Object.entries(clockOffsets))
    gauge.set({ peer: identityOf(id).nodeId }, offsetMs / 1000);
}

function addPeers(families: Families, status: MemberStatus): void {
  const { peers } = status;
  if (peers.length === 0) return;
  for (const [name, help, of] of peerNumbers)
    families.gauge(
      `peer_${name}`,
      help,
      peers.map((peer) => [labelsOf(peer), of(peer, status)]),
    );
  families.gauge(
    'peer_state',
    'How the leader feeds the peer: 1 for that, 0 for the others.',
    peers.flatMap((peer) =>
      states.map((state) => [{ ...labelsOf(peer), state }, Number(state === peer.state)] as const),
    ),
  );
}

/** Two lives of one node may be members at the same time. */
function labelsOf({ id }: PeerStatus): Labels {
  const { nodeId, incarnation } = identityOf(id);
  return { peer: nodeId, incarnation: String(incarnation) };
}

function addTotals(families: Families, { counts, transport }: MemberStatus): void {
  const { elections, leaderChanges, transfers } = counts;
  families.counter('elections_total', 'How often this node asked whether it would win, campaigned, and won.', [
    [{ stage: 'pre_vote' }, elections.preVotes],
    [{ stage: 'campaign' }, elections.campaigns],
    [{ stage: 'won' }, elections.won],
  ]);
  families.counter('leader_changes_total', 'How often another node than before was known to lead.', [
    [{}, leaderChanges],
  ]);
  families.counter('checkpoint_transfers_total', 'Checkpoints sent to peers, and those of others installed here.', [
    [{ event: 'begun' }, transfers.begun],
    [{ event: 'failed' }, transfers.failed],
    [{ event: 'installed' }, transfers.installed],
  ]);
  if (transport === undefined) return;
  families.counter('transport_dropped_total', 'Messages and connections between nodes that came to nothing.', [
    [{ reason: 'wrong_cluster' }, transport.wrongCluster],
    [{ reason: 'wrong_identity' }, transport.wrongIdentity],
    [{ reason: 'malformed' }, transport.malformed],
    [{ reason: 'refused' }, transport.refused],
    [{ reason: 'unsendable' }, transport.unsendable],
  ]);
}
