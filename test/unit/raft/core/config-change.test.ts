import { expect } from 'chai';
import {
  applyChanges,
  enterJoint,
  isJoint,
  leaveJoint,
  type MemberChange,
  memberIds,
  simple,
} from '../../../../raft/core/config-change.ts';
import { seededRng } from '../../../../raft/core/rng.ts';
import { type Config, emptyConfig, type Member } from '../../../../raft/core/types.ts';

const member = (id: string, address = `${id}:7000`): Member => ({ id, address, clientAddress: '' });
const voter = (id: string): MemberChange => ({ type: 'addVoter', member: member(id) });
const learner = (id: string): MemberChange => ({ type: 'addLearner', member: member(id) });
const remove = (id: string): MemberChange => ({ type: 'remove', id });

function configOf(voters: readonly string[], learners: readonly string[] = []): Config {
  return { ...emptyConfig, voters, learners, members: [...voters, ...learners].map((id) => member(id)) };
}

function next(result: ReturnType<typeof simple>): Config {
  if (result.kind === 'invalid') throw new Error(result.why);
  return result.config;
}

describe('configuration change', () => {
  it('swaps two voters through a joint configuration', () => {
    const joint = next(applyChanges(configOf(['1', '2', '3'], ['4']), [voter('4'), remove('1')], 'auto'));
    expect(joint).to.deep.include({ voters: ['2', '3', '4'], outgoing: ['1', '2', '3'], autoLeave: true });
    const left = next(applyChanges(joint, [], 'auto'));
    expect(left).to.deep.include({ voters: ['2', '3', '4'], outgoing: [], removed: ['1'], autoLeave: false });
    expect(left.members.map(({ id }) => id)).to.deep.equal(['2', '3', '4']);
  });

  it('keeps a demoted voter in the outgoing half until the joint configuration is left', () => {
    const joint = next(enterJoint(configOf(['1', '2', '3']), [learner('1')], true));
    expect(joint).to.deep.include({ voters: ['2', '3'], outgoing: ['1', '2', '3'], learners: [], learnersNext: ['1'] });
    expect(next(leaveJoint(joint))).to.deep.include({ voters: ['2', '3'], learners: ['1'], learnersNext: [] });
  });

  it('never takes a removed identity back', () => {
    const smaller = next(simple(configOf(['1', '2']), [remove('2')]));
    expect(simple(smaller, [learner('2')])).to.include({ kind: 'invalid' });
  });

  it('changes an address without touching who votes', () => {
    const moved = next(simple(configOf(['1', '2']), [{ type: 'update', member: member('2', 'elsewhere:7000') }]));
    expect(moved.voters).to.deep.equal(['1', '2']);
    expect(moved.members[1]?.address).to.equal('elsewhere:7000');
  });

  for (const [name, result] of [
    ['two voters in one simple step', simple(configOf(['1']), [voter('2'), voter('3')])],
    ['a configuration without voters', simple(configOf(['1']), [remove('1')])],
    ['a second joint configuration', enterJoint({ ...configOf(['1']), outgoing: ['1'] }, [voter('2')], true)],
    ['leaving what is not joint', leaveJoint(configOf(['1']))],
    ['a simple step inside a joint configuration', simple({ ...configOf(['1']), outgoing: ['2'] }, [voter('3')])],
  ] as const) {
    it(`refuses ${name}`, () => expect(result).to.include({ kind: 'invalid' }));
  }

  it('agrees with plain sets over 10,000 random changes', () => {
    const rng = seededRng(7);
    let config = configOf(['a']);
    let voters = new Set(['a']);
    let learners = new Set<string>();
    for (let round = 0; round < 10_000; round += 1) {
      const changes = Array.from({ length: 1 + rng.below(3) }, () => randomChange(config, rng.below));
      const [nextVoters, nextLearners] = naive(voters, learners, changes);
      const result = applyChanges(config, changes, 'auto');
      if (result.kind === 'invalid') {
        expect(nextVoters.size === 0, `${result.why} ${JSON.stringify(changes)}`).to.equal(true);
        continue;
      }
      config = { ...(isJoint(result.config) ? next(leaveJoint(result.config)) : result.config), removed: [] };
      [voters, learners] = [nextVoters, nextLearners];
      expect(config.voters).to.deep.equal([...voters].sort());
      expect(config.learners).to.deep.equal([...learners].sort());
      expect(config.members.map(({ id }) => id)).to.deep.equal(memberIds(config));
    }
  });
});

function randomChange(config: Config, below: (n: number) => number): MemberChange {
  const id = 'abcdefg'[below(7)]!;
  const kind = below(3);
  if (kind === 0) return voter(id);
  return kind === 1 || !memberIds(config).includes(id) ? learner(id) : remove(id);
}

function naive(voters: Set<string>, learners: Set<string>, changes: readonly MemberChange[]) {
  const [v, l] = [new Set(voters), new Set(learners)];
  for (const change of changes) {
    const id = change.type === 'remove' ? change.id : change.member.id;
    v.delete(id);
    l.delete(id);
    if (change.type === 'addVoter') v.add(id);
    if (change.type === 'addLearner') l.add(id);
  }
  return [v, l] as const;
}
