import { expect } from 'chai';
import { type CheckpointMeta, emptyConfig } from '../../../../raft/core/types.ts';
import { CheckpointPolicy } from '../../../../raft/driver/checkpoint-policy.ts';
import { defaultDriverSettings } from '../../../../raft/driver/driver-settings.ts';

const settings = {
  ...defaultDriverSettings,
  clusterId: 'c',
  id: 'n1#1',
  checkpointEntries: 10,
  checkpointBytes: 1_000,
};
const metaAt = (index: number): CheckpointMeta => ({
  ...{ index, term: 1, time: 0, config: emptyConfig },
  ...{ file: `f${index}`, size: 1, sha256: 'x' },
});

function policyOf(newest?: CheckpointMeta): CheckpointPolicy {
  return new CheckpointPolicy(settings, { below: () => 0 }, { checkpoint: newest, entries: [] }, newest?.index ?? 0);
}

const keptBy = (policy: CheckpointPolicy) => policy.kept.map(({ index }) => index);

describe('checkpoint policy', () => {
  it('asks once for each, after so many entries or bytes', () => {
    const policy = policyOf();
    expect(policy.isDue(9)).to.equal(false);
    expect(policy.isDue(10)).to.equal(true);
    expect(policy.isDue(11)).to.equal(false);
    policy.adopt(metaAt(10));
    policy.recorded(10);
    policy.applied(1_000);
    expect(policy.isDue(11)).to.equal(true);
  });

  it('counts what was applied before a start, and while a checkpoint was made', () => {
    const entry = (index: number) =>
      ({ kind: 'command', index, term: 1, time: 0, payload: new Uint8Array(468) }) as const;
    const boot = { checkpoint: metaAt(2), entries: [1, 2, 3, 4, 5].map(entry) };
    const policy = new CheckpointPolicy(settings, { below: () => 0 }, boot, 4);
    expect(policy.isDue(4)).to.equal(true);
    policy.applied(400);
    policy.adopt(metaAt(4));
    policy.recorded(4);
    policy.applied(500);
    expect(policy.isDue(6)).to.equal(false);
    policy.applied(100);
    expect(policy.isDue(7)).to.equal(true);
  });

  it('keeps the one before the newest, when the log on disk names the newest', () => {
    const policy = policyOf(metaAt(10));
    for (const index of [20, 30]) {
      policy.adopt(metaAt(index));
      policy.recorded(index);
    }
    expect(keptBy(policy)).to.deep.equal([20, 30]);
  });

  it('keeps what the log on disk names while newer ones wait to be named, and asks for no more', () => {
    const policy = policyOf(metaAt(10));
    policy.adopt(metaAt(20));
    policy.adopt(metaAt(30));
    expect(keptBy(policy)).to.deep.equal([10, 20, 30]);
    expect(policy.isDue(90)).to.equal(false);
    policy.recorded(20);
    expect(keptBy(policy)).to.deep.equal([10, 20, 30]);
    policy.recorded(30);
    expect(keptBy(policy)).to.deep.equal([20, 30]);
    expect(policy.isDue(90)).to.equal(true);
  });

  it('asks later again when one could not be written', () => {
    const policy = policyOf();
    expect(policy.isDue(10)).to.equal(true);
    policy.failed();
    expect([policy.isDue(19), policy.isDue(20)]).to.deep.equal([false, true]);
  });
});
