import { expect } from 'chai';
import { ConfigState } from '../../../src/state/config-state.ts';
import { idempotencyLimits } from '../../../src/state/idempotency-table.ts';
import { applyAll, applyRound, capture, put, remove, startMs, statuses, update } from '../../support/commands.ts';

const key = (scope: string, bodyHash = 'hash', time = startMs) => ({ idempotency: { scope, bodyHash }, time });

describe('ConfigState, Idempotency-Key', () => {
  let state: ConfigState;

  beforeEach(() => {
    state = new ConfigState();
  });

  it('replays the entity as it was created, and creates no second one', () => {
    applyAll(state, put('routes', 'a', { v: 1 }, key('k')), update('routes', 'a', { v: 2 }));
    const [replayed] = applyAll(state, put('routes', 'b', { v: 1 }, key('k')));
    expect(replayed?.result).to.deep.equal({
      index: 1,
      status: 201,
      kind: 'routes',
      id: 'a',
      replay: { spec: { id: 'a', name: 'a name', v: 1 } },
    });
    expect(state.get('routes', 'b')).to.equal(undefined);
  });

  it('replays the same to a retry of the replay', () => {
    applyAll(state, put('routes', 'a', {}, key('k')));
    const again = put('routes', 'b', {}, key('k'));
    const [first, second] = applyAll(state, again, again);
    expect(second?.result).to.deep.equal(first?.result);
    expect(second?.result.replay?.spec).to.include({ id: 'a' });
  });

  it('refuses another body under the same key', () => {
    const commands = [put('routes', 'a', {}, key('k')), put('routes', 'b', {}, key('k', 'other'))];
    expect(statuses(state, ...commands)).to.deep.equal([201, 422]);
    expect(state.get('routes', 'b')).to.equal(undefined);
  });

  it('replays a refusal with its reason', () => {
    applyAll(state, put('routes', 'a'), put('routes', 'a', {}, key('k')), remove('routes', 'a'));
    const [replayed] = applyAll(state, put('routes', 'a', {}, key('k')));
    expect(replayed?.result).to.include({ status: 409, error: 'route "a" exists already' });
  });

  it('does not keep moved: the same key captures again', () => {
    applyAll(state, put('routes', 'a'));
    const commands = [capture('s', { checkedAt: 0, ...key('k') }), capture('t', { checkedAt: 1, ...key('k') })];
    expect(statuses(state, ...commands)).to.deep.equal(['moved', 201]);
    const [replayed] = applyAll(state, capture('u', { checkedAt: 1, ...key('k') }));
    expect(replayed?.result).to.deep.include({ status: 201, id: 't', replay: {} });
  });

  it('never keeps the entity of a secret', () => {
    const { rows } = applyRound(state, put('secrets', 's', { value: 'canary' }, key('k')));
    const holding = rows.filter(({ body }) => body?.includes('canary')).map(({ key }) => key);
    expect(holding).to.deep.equal(['e/secrets/s']);
    const [replayed] = applyAll(state, put('secrets', 't', { value: 'canary' }, key('k')));
    expect(replayed?.result).to.deep.include({ status: 201, id: 's', replay: {} });
  });

  it('does not keep an entity over 64 KiB', () => {
    applyAll(state, put('routes', 'a', { text: 'x'.repeat(idempotencyLimits.specBytes) }, key('k')));
    const [replayed] = applyAll(state, put('routes', 'b', {}, key('k')));
    expect(replayed?.result).to.deep.include({ status: 201, id: 'a', replay: {} });
  });

  it('forgets a key after a day of log time and deletes its row', () => {
    applyAll(state, put('routes', 'a', {}, key('k')));
    const day = startMs + idempotencyLimits.ageMs;
    expect(statuses(state, put('routes', 'b', {}, key('k', 'hash', day - 1)))).to.deep.equal([201]);
    expect(state.get('routes', 'b')).to.equal(undefined);
    const { rows } = applyRound(state, put('routes', 'c', {}, { time: day }));
    expect(rows.filter(({ key, body }) => key.startsWith('i/') && body === undefined)).to.have.length(1);
    expect(statuses(state, put('routes', 'b', {}, key('k', 'hash', day)))).to.deep.equal([201]);
    expect(state.get('routes', 'b')?.id).to.equal('b');
  });

  it('keeps no more rows than its limit, the oldest go first', () => {
    const few = new ConfigState({ idempotencyLimits: { ...idempotencyLimits, rows: 2 } });
    applyAll(few, ...['a', 'b', 'c'].map((id) => put('routes', id, {}, key(id))));
    expect(statuses(few, put('routes', 'a', {}, key('c')), put('routes', 'x', {}, key('a')))).to.deep.equal([201, 201]);
    expect(few.get('routes', 'x')?.id).to.equal('x');
  });

  it('keeps no more bytes than its limit', () => {
    const few = new ConfigState({ idempotencyLimits: { ...idempotencyLimits, bytes: 1_000 } });
    applyAll(few, ...['a', 'b'].map((id) => put('routes', id, { text: 'x'.repeat(600) }, key(id))));
    expect(statuses(few, put('routes', 'x', {}, key('a')))).to.deep.equal([201]);
    expect(few.get('routes', 'x')?.id).to.equal('x');
  });
});
