import { expect } from 'chai';
import { ConfigState } from '../../../src/state/config-state.ts';
import { activate, applyAll, applyRound, capture, put, remove, statuses, update } from '../../support/commands.ts';

describe('ConfigState', () => {
  let state: ConfigState;

  beforeEach(() => {
    state = new ConfigState();
  });

  it('creates, updates and deletes an entity', () => {
    expect(statuses(state, put('routes', 'a', { x: 1 }))).to.deep.equal([201]);
    expect(state.get('routes', 'a')).to.include({ id: 'a', name: 'a name', revision: 1 });
    expect(statuses(state, update('routes', 'a', { x: 2 }))).to.deep.equal([200]);
    expect(state.get('routes', 'a')?.spec).to.deep.equal({ id: 'a', name: 'a name', x: 2 });
    expect(state.revision('routes', 'a')).to.equal(2);
    expect(statuses(state, remove('routes', 'a'))).to.deep.equal([204]);
    expect(state.get('routes', 'a')).to.equal(undefined);
  });

  it('keeps the text that the entity is answered with', () => {
    applyAll(state, put('routes', 'a', { match: { path: '/ü' } }));
    expect(state.get('routes', 'a')?.json).to.equal('{"id":"a","name":"a name","match":{"path":"/ü"}}');
  });

  it('refuses a taken id, even under another name', () => {
    applyAll(state, put('routes', 'a'));
    const [refused] = applyAll(state, put('routes', 'a', { name: 'other' }));
    expect(refused?.result).to.include({ status: 409, kind: 'routes', id: 'a', error: 'route "a" exists already' });
  });

  it('refuses a taken name within a kind and allows it in another', () => {
    const same = { name: 'same' };
    expect(statuses(state, put('routes', 'a', same), put('groups', 'b', same), put('routes', 'c', same))).to.deep.equal(
      [201, 201, 409],
    );
  });

  it('lets an update keep its own name and refuses the name of another', () => {
    applyAll(state, put('routes', 'a', { name: 'A' }), put('routes', 'b', { name: 'B' }));
    expect(statuses(state, update('routes', 'a', { name: 'A' }), update('routes', 'a', { name: 'B' }))).to.deep.equal([
      200, 409,
    ]);
  });

  it('frees a name by renaming and by deleting', () => {
    applyAll(state, put('routes', 'a', { name: 'A' }), update('routes', 'a', { name: 'A2' }));
    expect(statuses(state, put('routes', 'b', { name: 'A' }), remove('routes', 'b'))).to.deep.equal([201, 204]);
    expect(statuses(state, put('routes', 'c', { name: 'A' }))).to.deep.equal([201]);
  });

  it('sees the names of commands in the same round', () => {
    const same = { name: 'same' };
    const round = applyRound(
      state,
      put('routes', 'a', same),
      put('routes', 'b', same),
      remove('routes', 'a'),
      put('routes', 'c', same),
    );
    expect(round.results.map(({ result }) => result.status)).to.deep.equal([201, 409, 204, 201]);
    expect(state.list('routes').map(({ id }) => id)).to.deep.equal(['c']);
  });

  it('swaps two names within one round', () => {
    applyAll(state, put('routes', 'a', { name: 'A' }), put('routes', 'b', { name: 'B' }));
    applyRound(
      state,
      update('routes', 'a', { name: 'T' }),
      update('routes', 'b', { name: 'A' }),
      update('routes', 'a', { name: 'B' }),
    );
    expect(statuses(state, put('routes', 'c', { name: 'A' }), put('routes', 'd', { name: 'T' }))).to.deep.equal([
      409, 201,
    ]);
  });

  it('answers 404 before it looks at If-Match, and 412 before names', () => {
    applyAll(state, put('routes', 'a', { name: 'A' }), put('routes', 'b', { name: 'B' }));
    const commands = [
      update('routes', 'x', { name: 'A' }, { ifMatch: [9] }),
      update('routes', 'b', { name: 'A' }, { ifMatch: [9] }),
      update('routes', 'b', { name: 'A' }, { ifMatch: [2] }),
      update('routes', 'b', { name: 'B' }, { ifMatch: [1, 2] }),
      remove('routes', 'b', { ifMatch: [2] }),
      remove('routes', 'b', { ifMatch: '*' }),
      remove('routes', 'b', { ifMatch: '*' }),
    ];
    expect(statuses(state, ...commands)).to.deep.equal([404, 412, 409, 200, 412, 204, 404]);
  });

  it('lists ascending by id in byte order, for any order of writing', () => {
    const ids = ['b', 'a', 'B', 'a1', 'a-1', '_', '~', '0', 'A'];
    applyRound(state, ...ids.map((id) => put('routes', id)));
    applyAll(state, put('routes', 'a.1'), remove('routes', 'a'));
    const expected = [...ids, 'a.1']
      .filter((id) => id !== 'a')
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(state.list('routes').map(({ id }) => id)).to.deep.equal(expected);
  });

  it('shows nothing of a round before it is committed', () => {
    applyAll(state, put('routes', 'a'));
    const { hash } = state;
    const round = state.prepare([{ index: 2, command: remove('routes', 'a') }], 2);
    expect(state.get('routes', 'a')?.id).to.equal('a');
    expect(state).to.include({ applied: 1, changedAt: 1, hash });
    round.commit();
    expect(state.get('routes', 'a')).to.equal(undefined);
    expect(state).to.include({ applied: 2, changedAt: 2, hash: round.hash });
  });

  it('moves the applied index over indexes that carry nothing for it', () => {
    state.prepare([{ index: 3, command: put('routes', 'a') }], 5).commit();
    expect(state).to.include({ applied: 5, changedAt: 3 });
  });

  it('remembers the last change of configuration kinds and secrets only', () => {
    applyAll(state, put('secrets', 's', { value: 'v' }));
    expect(state.changedAt).to.equal(1);
    applyAll(
      state,
      capture('p', { checkedAt: 1 }),
      activate('p'),
      put('routes', 'a', {}, { time: 5 }),
      update('routes', 'x'),
    );
    expect(state.changedAt).to.equal(4);
  });

  it('never lets the log time go back', () => {
    applyAll(state, put('routes', 'a', {}, { time: 2_000 }), put('routes', 'b', {}, { time: 1_000 }));
    expect(state.logTime).to.equal(2_000);
  });
});
