import { expect } from 'chai';
import { ConfigState } from '../../../src/state/config-state.ts';
import { activate, applyAll, applyRound, capture, put, remove, statuses, update } from '../../support/commands.ts';

const withSecret = (reference: string) => ({ redirect: { host: `x-${reference}-y` } });

describe('ConfigState, snapshots', () => {
  let state: ConfigState;

  beforeEach(() => {
    state = new ConfigState();
  });

  it('captures what it meets and shares it with the state', () => {
    applyAll(state, put('routes', 'b'), put('routes', 'a'), put('groups', 'g'));
    applyAll(state, capture('s', { checkedAt: 3, createdAt: '2026-02-03T04:05:06.007Z' }));
    const snapshot = state.snapshot('s');
    expect(snapshot).to.include({ id: 's', name: 's name', revision: 4, createdAt: '2026-02-03T04:05:06.007Z' });
    expect(snapshot?.entities.routes).to.equal(state.list('routes'));
    expect(snapshot?.entities.groups[0]).to.equal(state.get('groups', 'g'));
  });

  it('does not follow later edits', () => {
    applyAll(state, put('routes', 'a', { v: 1 }), capture('s', { checkedAt: 1 }), update('routes', 'a', { v: 2 }));
    applyAll(state, put('routes', 'b'), remove('routes', 'a'));
    expect(state.snapshot('s')?.entities.routes.map(({ spec }) => spec.v)).to.deep.equal([1]);
  });

  it('captures what earlier commands of the same round changed', () => {
    const round = applyRound(state, put('routes', 'a'), capture('s', { checkedAt: 1 }), put('routes', 'b'));
    expect(round.results.map(({ result }) => result.status)).to.deep.equal([201, 201, 201]);
    expect(state.snapshot('s')?.entities.routes.map(({ id }) => id)).to.deep.equal(['a']);
  });

  it('answers moved when the configuration or a secret changed after the check', () => {
    applyAll(state, put('routes', 'a'));
    expect(statuses(state, capture('s', { checkedAt: 0 }), capture('s', { checkedAt: 1 }))).to.deep.equal([
      'moved',
      201,
    ]);
    expect(statuses(state, put('secrets', 'x', { value: 'v' }), capture('t', { checkedAt: 1 }))).to.deep.equal([
      201,
      'moved',
    ]);
  });

  it('is not moved by snapshots, activations and refused writes', () => {
    applyAll(state, put('routes', 'a'), capture('s', { checkedAt: 1 }), activate('s'), put('routes', 'a'));
    expect(statuses(state, capture('t', { checkedAt: 1 }))).to.deep.equal([201]);
  });

  it('refuses a taken name before it says moved', () => {
    applyAll(state, capture('s', { name: 'one' }), put('routes', 'a'));
    expect(statuses(state, capture('t', { name: 'one' }), capture('s', { name: 'two' }))).to.deep.equal([409, 409]);
  });

  it('frees the name of a deleted snapshot', () => {
    applyAll(state, capture('s', { name: 'one' }), remove('snapshots', 's'));
    expect(statuses(state, capture('t', { name: 'one' }))).to.deep.equal([201]);
  });

  it('keeps values of env and file from the command and of secrets from the state', () => {
    applyAll(
      state,
      put('secrets', 'pw', { value: 'hunter2' }),
      put('routes', 'a', withSecret('{{secret:value:pw}}{{secret:env:E}}')),
      put('routes', 'b', withSecret('{{secret:file:/f}}')),
    );
    const values = { '{{secret:env:E}}': 'e', '{{secret:file:/f}}': 'f', '{{secret:env:UNUSED}}': 'u' };
    expect(statuses(state, capture('s', { checkedAt: 3, values }))).to.deep.equal([201]);
    expect(state.snapshot('s')?.values).to.deep.equal({
      '{{secret:value:pw}}': 'hunter2',
      '{{secret:env:E}}': 'e',
      '{{secret:file:/f}}': 'f',
    });
  });

  it('answers moved when a reference has no value, so that it is collected again', () => {
    applyAll(state, put('routes', 'a', withSecret('{{secret:env:E}}')));
    expect(statuses(state, capture('s', { checkedAt: 1 }))).to.deep.equal(['moved']);
    applyAll(state, put('routes', 'b', withSecret('{{secret:value:gone}}')));
    expect(statuses(state, capture('s', { checkedAt: 2, values: { '{{secret:env:E}}': 'e' } }))).to.deep.equal([
      'moved',
    ]);
  });

  it('takes no value from the prototype of the map', () => {
    applyAll(state, put('routes', 'a', withSecret('{{secret:value:constructor}}')));
    expect(statuses(state, capture('s', { checkedAt: 1 }))).to.deep.equal(['moved']);
  });

  it('activates, rolls back and re-activates, each at its own index', () => {
    applyAll(state, capture('s'), capture('t'));
    const activations = ['s', 't', 's', 's'].map((id) => applyRound(state, activate(id)).activation);
    expect(activations.map((activation) => [activation?.snapshot.id, activation?.index])).to.deep.equal([
      ['s', 3],
      ['t', 4],
      ['s', 5],
      ['s', 6],
    ]);
    expect(state.active).to.deep.equal({ snapshotId: 's', index: 6 });
  });

  it('publishes only the last activation of a round, and nothing without one', () => {
    applyAll(state, capture('s'), capture('t'));
    expect(applyRound(state, activate('s'), activate('t')).activation).to.deep.include({ index: 4 });
    expect(applyRound(state, put('routes', 'a')).activation).to.equal(undefined);
    expect(applyRound(state, activate('nobody')).activation).to.equal(undefined);
  });

  it('refuses to delete the active snapshot and to activate one with another revision', () => {
    applyAll(state, capture('s'), capture('t'), activate('s'));
    const commands = [
      remove('snapshots', 's'),
      remove('snapshots', 'x'),
      activate('x'),
      activate('t', { ifMatch: [1] }),
      remove('snapshots', 's', { ifMatch: [7] }),
      activate('t', { ifMatch: [2] }),
      remove('snapshots', 's'),
    ];
    expect(statuses(state, ...commands)).to.deep.equal([409, 404, 404, 412, 412, 200, 204]);
  });

  it('lists ascending by creation time, then id', () => {
    const at = (second: number) => ({ createdAt: `2026-01-01T00:00:0${second}.000Z` });
    applyAll(state, capture('b', at(2)), capture('c', at(1)), capture('a', at(2)), capture('d', at(1)));
    expect(state.snapshots().map(({ id }) => id)).to.deep.equal(['c', 'd', 'a', 'b']);
  });
});
