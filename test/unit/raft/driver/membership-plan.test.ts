import { expect } from 'chai';
import type { CoreState } from '../../../../raft/core/state.ts';
import { emptyConfig, type MemberId } from '../../../../raft/core/types.ts';
import { type DriverSettings, defaultDriverSettings } from '../../../../raft/driver/driver-settings.ts';
import { planChange } from '../../../../raft/driver/membership-plan.ts';

const member = (id: MemberId) => ({ id, address: `${id}:7000`, clientAddress: '' });

/** A leader a with two learners that have nothing yet, of which `heard` are reachable. */
function leaderOf(learners: readonly MemberId[], heard: readonly MemberId[]): CoreState {
  const voters = ['a#1'];
  const progress = learners.map((id) => [id, { match: 0, wasActive: heard.includes(id), counts: true }] as const);
  const config = { ...emptyConfig, voters, learners, members: [...voters, ...learners].map(member) };
  const state = {
    role: 'leader',
    config,
    settings: { id: 'a#1' },
    log: { committed: 500 },
    progress: new Map(progress),
  };
  return state as unknown as CoreState;
}

const settings: DriverSettings = { ...defaultDriverSettings, clusterId: 'c', id: 'a#1' };
const add = (state: CoreState, id: MemberId) =>
  planChange(state, { op: 'addLearner', member: member(id) }, settings, false);

describe('the plan for another learner', () => {
  it('is refused while two others catch up, and does not count those that are unreachable', () => {
    const learners = ['d#4', 'e#5'];
    expect(add(leaderOf(learners, learners), 'f#6')).to.deep.equal({ kind: 'refused', why: 'not caught up' });
    expect(add(leaderOf(learners, ['d#4']), 'f#6').kind).to.equal('plan');
    expect(add(leaderOf(learners, []), 'f#6').kind).to.equal('plan');
  });

  it('removes the dead learner of the same name, and none that is heard', () => {
    const plan = add(leaderOf(['d#4', 'e#5'], ['e#5']), 'd#6');
    const changes = [
      { type: 'remove', id: 'd#4' },
      { type: 'addLearner', member: member('d#6') },
    ];
    expect(plan).to.deep.include({ kind: 'plan', changes });
    const beside = add(leaderOf(['d#4'], ['d#4']), 'd#6');
    expect(beside).to.deep.include({ kind: 'plan', changes: changes.slice(1) });
  });
});
