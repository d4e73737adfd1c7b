import { expect } from 'chai';
import type { MemberStatus } from '../../../../raft/index.ts';
import { raftMetrics } from '../../../../src/cluster/members/raft-metrics.ts';
import { statusOfFour, statusOfOne } from '../../../support/cluster-of.ts';
import { familiesOf, linesOf, sampleOf } from '../../../support/metric-lines.ts';

const textOf = (status: MemberStatus | undefined, failed?: string): Promise<string> =>
  raftMetrics({ status, failed, nowMs: 1_030_000 }).metrics();

describe('metrics of raft', () => {
  it('say what the leader is, how far the log goes, and how old the checkpoint is', async () => {
    const text = await textOf(statusOfFour);
    expect(linesOf(text, 'sluice_raft_role')).to.deep.equal([
      'sluice_raft_role{role="leader"} 1',
      'sluice_raft_role{role="follower"} 0',
      'sluice_raft_role{role="candidate"} 0',
      'sluice_raft_role{role="learner"} 0',
    ]);
    expect(linesOf(text, 'sluice_raft_leader')).to.deep.equal(['sluice_raft_leader{node="a"} 1']);
    const values = { term: 3, commit_index: 40, applied_index: 40, first_index: 1, last_index: 41 };
    for (const [name, value] of Object.entries(values)) expect(sampleOf(text, `sluice_raft_${name}`)).to.equal(value);
    expect(sampleOf(text, 'sluice_raft_checkpoint_index')).to.equal(30);
    expect(sampleOf(text, 'sluice_raft_checkpoint_bytes')).to.equal(5_000);
    expect(sampleOf(text, 'sluice_raft_checkpoint_age_seconds')).to.equal(30);
    expect(sampleOf(text, 'sluice_raft_poisoned')).to.equal(0);
  });

  it('say how far each peer is', async () => {
    const text = await textOf(statusOfFour);
    expect(linesOf(text, 'sluice_raft_peer_lag_entries')).to.deep.equal([
      'sluice_raft_peer_lag_entries{peer="b",incarnation="2"} 0',
      'sluice_raft_peer_lag_entries{peer="c",incarnation="3"} 28',
      'sluice_raft_peer_lag_entries{peer="d",incarnation="4"} 0',
    ]);
    expect(sampleOf(text, 'sluice_raft_peer_state{peer="c",incarnation="3",state="probe"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_raft_peer_state{peer="b",incarnation="2",state="probe"}')).to.equal(0);
    expect(sampleOf(text, 'sluice_raft_peer_heard{peer="c",incarnation="3"}')).to.equal(0);
    expect(sampleOf(text, 'sluice_raft_peer_inflight_messages{peer="d",incarnation="4"}')).to.equal(1);
  });

  it('count elections and transfers, and how long the disk takes', async () => {
    const text = await textOf(statusOfFour);
    expect(sampleOf(text, 'sluice_raft_elections_total{stage="won"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_raft_leader_changes_total')).to.equal(3);
    expect(sampleOf(text, 'sluice_raft_checkpoint_transfers_total{event="failed"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_raft_fsync_seconds_bucket{le="0.01"}')).to.equal(5);
    expect(sampleOf(text, 'sluice_raft_fsync_seconds_count')).to.equal(6);
    expect(sampleOf(text, 'sluice_raft_loop_lag_seconds_count')).to.equal(9);
  });

  it('tell a learner from a follower', async () => {
    const text = await textOf({ ...statusOfFour, id: 'd#4', role: 'follower', peers: [] });
    expect(sampleOf(text, 'sluice_raft_role{role="learner"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_raft_role{role="follower"}')).to.equal(0);
    expect(familiesOf(text)).not.to.include('sluice_raft_peer_lag_entries');
  });

  it('say nothing of what a node without cluster or leader cannot know', async () => {
    const { checkpoint: _checkpoint, ...alone } = { ...statusOfOne, role: 'candidate' as const, leader: undefined };
    const text = await textOf({ ...alone, checkpoint: undefined });
    expect(sampleOf(text, 'sluice_raft_role{role="candidate"}')).to.equal(1);
    expect(familiesOf(text)).not.to.include.members(['sluice_raft_leader', 'sluice_raft_checkpoint_index']);
    expect(familiesOf(await textOf(undefined))).to.deep.equal(['sluice_raft_poisoned']);
  });

  it('say that a node has left for good', async () => {
    expect(sampleOf(await textOf(undefined, 'a disk'), 'sluice_raft_poisoned')).to.equal(1);
  });
});
