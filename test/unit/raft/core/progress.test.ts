import { expect } from 'chai';
import { Progress } from '../../../../raft/core/progress.ts';

const window = { messages: 2, bytes: 1_000 };

function replicating(): Progress {
  const progress = new Progress(1, window);
  progress.acknowledged(0, 1, 1);
  return progress;
}

describe('progress of a peer', () => {
  it('waits for an answer after each probe, and probes again when a heartbeat is answered', () => {
    const progress = new Progress(5, window);
    progress.sending(7, 30, 0);
    expect(progress.isPaused).to.equal(true);
    progress.heard(10);
    expect(progress.isPaused).to.equal(false);
  });

  it('leaves probing on any agreement, even one that brings nothing new', () => {
    expect(replicating().state).to.equal('replicate');
  });

  it('stops when its window is full and goes on when an answer frees it', () => {
    const progress = replicating();
    progress.sending(1, 10, 0);
    progress.sending(2, 10, 0);
    expect(progress.isPaused).to.equal(true);
    progress.acknowledged(1, 2, 1);
    expect([progress.isPaused, progress.inflight, progress.next]).to.deep.equal([false, 1, 3]);
  });

  it('sends once more through a full window when a heartbeat was answered, so that a lost window drains', () => {
    const progress = replicating();
    progress.sending(1, 10, 0);
    progress.sending(2, 10, 0);
    progress.heard(2);
    expect([progress.isPaused, progress.wantsEmpty(0)]).to.deep.equal([false, true]);
    progress.sending(undefined, 0, 0);
    expect(progress.isPaused).to.equal(true);
  });

  it('falls back to probing when an append is refused', () => {
    const progress = replicating();
    progress.sending(4, 10, 0);
    expect(progress.refused(4, 2, 3)).to.equal(true);
    expect([progress.state, progress.next]).to.deep.equal(['probe', 1]);
  });

  it('ignores a refusal that is older than an agreement', () => {
    const progress = replicating();
    progress.sending(4, 10, 0);
    progress.acknowledged(4, 2, 1);
    expect(progress.refused(6, 1, 3)).to.equal(false);
    expect(progress.state).to.equal('replicate');
  });

  it('does not take a refusal that was overtaken for lost data', () => {
    const progress = replicating();
    const early = progress.sending(4, 10, 0);
    progress.acknowledged(4, early, 1);
    expect(progress.provesLoss(0, early, 2)).to.equal(false);
    expect(progress.provesLoss(0, progress.sending(5, 10, 0), 2)).to.equal(true);
  });

  it('leaves the checkpoint state when the peer reaches the kept log by any way', () => {
    const progress = replicating();
    progress.becomeCheckpoint();
    expect(progress.isPaused).to.equal(true);
    progress.acknowledged(20, 0, 15);
    expect([progress.state, progress.next]).to.deep.equal(['replicate', 21]);
  });

  it('starts over when the checkpoint that arrived is older than the kept log', () => {
    const progress = replicating();
    progress.becomeCheckpoint();
    progress.pendingCheckpoint = 20;
    progress.acknowledged(20, 0, 30);
    expect([progress.state, progress.next]).to.deep.equal(['probe', 21]);
  });
});
