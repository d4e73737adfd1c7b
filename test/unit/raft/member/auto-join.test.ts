import { expect } from 'chai';

import { type Config, emptyConfig } from '../../../../raft/core/types.ts';
import { changeDue } from '../../../../raft/member/auto-join.ts';
import type { Founder } from '../../../../raft/membership/bootstrap.ts';
import { renamedConfig } from '../../../../raft/membership/rename.ts';

describe('automatic joining at a leader, for the nodes it has met', () => {
  it('nothing about members as they are known', () => {
    expect(changeDue(config, [member], { autoJoin: 'learner' })).to.equal(undefined);
  });

  it('makes an empty node a learner', () => {
    const change = changeDue(config, [member, newcomer], { autoJoin: 'learner' });
    expect(change).to.deep.equal({
      op: 'addLearner',
      member: { id: 'b#2', address: 'b:7000', clientAddress: 'b:8080' },
    });
  });

  it('leaves that to the operator when told so', () => {
    expect(changeDue(config, [newcomer], { autoJoin: 'none' })).to.equal(undefined);
  });

  it('takes no node back that was removed', () => {
    expect(changeDue({ ...config, removed: ['b#2'] }, [newcomer], { autoJoin: 'learner' })).to.equal(undefined);
  });

  it('follows a member that moved', () => {
    const moved = { ...member, address: 'elsewhere:7000' };
    const change = changeDue(config, [moved], { autoJoin: 'none' });
    expect(change).to.deep.equal({
      op: 'update',
      member: { id: 'a#1', address: 'elsewhere:7000', clientAddress: 'a:8080' },
    });
  });
});

describe('a node that is told of a cluster', () => {
  const self = { id: 'n1#1', address: 'n1:7000', clientAddress: 'n1:8080' };

  it('takes its new name when it is the only voter', () => {
    expect(renamedConfig(boot(config), 'a#1', self)).to.deep.include({ voters: ['n1#1'], members: [self] });
  });

  it('keeps its name when there is another node, or one is on the way', () => {
    expect(renamedConfig(boot({ ...config, voters: ['a#1', 'b#2'] }), 'a#1', self)).to.equal(undefined);
    expect(renamedConfig(boot({ ...config, learners: ['b#2'] }), 'a#1', self)).to.equal(undefined);
    expect(renamedConfig(boot({ ...config, outgoing: ['a#1'] }), 'a#1', self)).to.equal(undefined);
  });

  it('looks at the newest configuration in the log', () => {
    const later = {
      kind: 'config',
      index: 2,
      term: 1,
      time: 0,
      config: { ...config, voters: ['a#1', 'b#2'] },
    } as const;
    const { entries, ...rest } = boot(config);
    expect(renamedConfig({ ...rest, entries: [...entries, later] }, 'a#1', self)).to.equal(undefined);
  });
});

const config: Config = {
  ...emptyConfig,
  voters: ['a#1'],
  members: [{ id: 'a#1', address: 'a:7000', clientAddress: 'a:8080' }],
};
const member = candidate('a', 1, 'ff');
const newcomer = candidate('b', 2, undefined);

function candidate(nodeId: string, incarnation: number, clusterId: string | undefined): Founder {
  const addresses = { address: `${nodeId}:7000`, clientAddress: `${nodeId}:8080` };
  return { nodeId, incarnation, clusterId, ...addresses, expects: [] };
}

function boot(first: Config) {
  const entry = { kind: 'config', index: 1, term: 1, time: 0, config: first } as const;
  const hardState = { term: 1, vote: undefined, commit: 1 };
  return { hardState, base: { index: 0, term: 0 }, entries: [entry], checkpoint: undefined, suspect: false };
}
