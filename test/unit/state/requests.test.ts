import { expect } from 'chai';
import type { RequestId } from '../../../src/model/answers/member-messages.ts';
import { ConfigState } from '../../../src/state/config-state.ts';
import { resultsMax, supersededMs } from '../../../src/state/request-table.ts';
import { applyAll, applyRound, put, startMs, statuses, update } from '../../support/commands.ts';

const request = (seq: number, more: Partial<RequestId> = {}) => ({ requestId: { seq, ...more } });

describe('ConfigState, retried requests', () => {
  let state: ConfigState;

  beforeEach(() => {
    state = new ConfigState();
  });

  it('gives the first result again and has no second effect', () => {
    const command = put('routes', 'a', {}, request(1));
    const [first, second] = applyAll(state, command, command);
    expect(second?.result).to.deep.equal(first?.result);
    expect(state.get('routes', 'a')?.revision).to.equal(1);
  });

  it('keeps refusals for retries although they would succeed by now', () => {
    const refused = update('routes', 'a', {}, request(1));
    expect(statuses(state, refused, put('routes', 'a', {}, request(2)), refused)).to.deep.equal([404, 201, 404]);
  });

  it('does not execute what was answered before', () => {
    applyAll(state, put('routes', 'a', {}, request(5, { ackedBelow: 5 })));
    const [late] = applyAll(state, put('routes', 'b', {}, request(4, { ackedBelow: 1 })));
    expect(late?.result).to.include({ status: 409, error: 'the request was answered before' });
    expect(state.get('routes', 'b')).to.equal(undefined);
  });

  it('forgets results below ackedBelow and writes that down', () => {
    applyAll(state, put('routes', 'a', {}, request(1)), put('routes', 'b', {}, request(2)));
    const { rows } = applyRound(state, put('routes', 'c', {}, request(3, { ackedBelow: 3 })));
    const gone = rows.filter(({ body }) => body === undefined).map(({ key }) => key);
    expect(gone).to.deep.equal(['r/n1/7/1/1', 'r/n1/7/1/2']);
  });

  it('keeps requests of different nodes, incarnations and boots apart', () => {
    const ids = [{}, { origin: 'n2' }, { incarnation: 8 }, { boot: 2 }];
    const commands = ids.map((id, at) => put('routes', `r${at}`, {}, request(1, id)));
    expect(statuses(state, ...commands)).to.deep.equal([201, 201, 201, 201]);
  });

  it('keeps no more results of a boot than its limit', () => {
    const commands = Array.from({ length: resultsMax + 1 }, (_, at) => update('routes', 'x', {}, request(at + 1)));
    applyRound(state, ...commands);
    const [second, first] = [commands[1], commands[0]];
    if (second === undefined || first === undefined) throw new Error('no commands');
    const [kept, dropped] = applyAll(state, second, first);
    expect(kept?.result).to.include({ status: 404, index: 2 });
    expect(dropped?.result).to.include({ status: 409 });
  });

  it('drops a boot an hour of log time after a newer one was seen, and refuses it from then on', () => {
    const old = put('routes', 'a', {}, { ...request(1), time: startMs });
    applyAll(state, old, put('routes', 'b', {}, { ...request(1, { boot: 2 }), time: startMs + 1 }));
    const almost = update('routes', 'x', {}, { ...request(2, { boot: 2 }), time: startMs + supersededMs });
    expect(statuses(state, almost, old)).to.deep.equal([404, 201]);
    const { rows } = applyRound(
      state,
      update('routes', 'x', {}, { ...request(3, { boot: 2 }), time: startMs + 1 + supersededMs }),
    );
    expect(rows.filter(({ body }) => body === undefined).map(({ key }) => key)).to.deep.equal([
      'b/n1/7/1',
      'r/n1/7/1/1',
    ]);
    const [late] = applyAll(state, put('routes', 'c', {}, request(2)));
    expect(late?.result).to.include({ status: 409, error: 'the request comes from an earlier start of its node' });
  });

  it('counts the hour of a boot from the first one that took its place', () => {
    const old = put('routes', 'a', {}, { ...request(1), time: startMs });
    const second = put('routes', 'b', {}, { ...request(1, { boot: 2 }), time: startMs + 1 });
    const third = put('routes', 'c', {}, { ...request(1, { boot: 3 }), time: startMs + 1 + supersededMs / 2 });
    applyAll(state, old, second, third);
    const later = { time: startMs + 1 + supersededMs };
    applyAll(state, update('routes', 'x', {}, { ...request(2, { boot: 3 }), ...later }));
    expect(statuses(state, old, { ...second, ...later })).to.deep.equal([409, 201]);
  });

  it('goes on with the store that took the place of a wiped one, of which a first command comes late', () => {
    const late = { ...request(1, { incarnation: 8 }), time: startMs + 1 };
    applyAll(state, put('routes', 'a', {}, { ...request(1), time: startMs }), put('routes', 'late', {}, late));
    const quiet = { time: startMs + 1 + supersededMs };
    applyAll(state, put('routes', 'other', {}, { ...request(1, { origin: 'n2' }), ...quiet }));
    expect(statuses(state, put('routes', 'b', {}, { ...request(2), ...quiet })), 'a new one').to.deep.equal([201]);
    const [again] = applyAll(state, put('routes', 'a', {}, { ...request(1), ...quiet }));
    expect(again?.result).to.include({ status: 409, error: 'the request was answered before' });
  });

  it('keeps the results of a store that is heard of after another one was', () => {
    const first = put('routes', 'a', {}, { ...request(1), time: startMs });
    applyAll(state, first, put('routes', 'late', {}, { ...request(1, { incarnation: 8 }), time: startMs + 1 }));
    applyAll(state, put('routes', 'b', {}, { ...request(2), time: startMs + 2 }));
    const later = { time: startMs + 1 + supersededMs };
    applyAll(state, put('routes', 'other', {}, { ...request(1, { origin: 'n2' }), ...later }));
    expect(statuses(state, first, put('routes', 'c', {}, request(3)))).to.deep.equal([201, 201]);
  });

  it('forgets the results of a wiped store, and nothing of what is refused since', () => {
    applyAll(state, put('routes', 'a', {}, { ...request(4), time: startMs }));
    applyAll(state, put('routes', 'b', {}, { ...request(1, { incarnation: 8 }), time: startMs + 1 }));
    const { rows } = applyRound(
      state,
      update('routes', 'x', {}, { ...request(2, { incarnation: 8 }), time: startMs + 1 + supersededMs }),
    );
    expect(rows.filter(({ body }) => body === undefined).map(({ key }) => key)).to.deep.equal(['r/n1/7/1/4']);
    const repeated = [put('routes', 'c', {}, request(4)), put('routes', 'c', {}, request(3))];
    expect(statuses(state, ...repeated)).to.deep.equal([409, 409]);
  });

  it('does not take an older boot for a newer one', () => {
    applyAll(state, put('routes', 'a', {}, request(1, { boot: 2 })), put('routes', 'b', {}, request(1, { boot: 1 })));
    const later = { time: startMs + supersededMs };
    applyAll(state, put('routes', 'c', {}, { ...request(2, { boot: 2 }), ...later }));
    expect(statuses(state, put('routes', 'd', {}, request(2, { boot: 1 })))).to.deep.equal([409]);
    expect(statuses(state, put('routes', 'a', {}, request(1, { boot: 2 })))).to.deep.equal([201]);
  });
});
