import { expect } from 'chai';
import { holdMs, WriteHold } from '../../../../src/cluster/log/edit-pause.ts';
import type { Draft } from '../../../../src/state/command.ts';
import { OperationLines } from '../../../../src/state/operation-lines.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { routeDraft } from '../../../support/node-of-one.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

const capture = (id: string, holdsWrites?: true): Draft => ({
  op: 'capture',
  id,
  name: id,
  createdAt: '2026-01-01T00:00:00.000Z',
  checkedAt: 1,
  values: {},
  ...(holdsWrites && { holdsWrites }),
});

describe('writes that wait for a capture', () => {
  let clock: ManualClock;
  let hold: WriteHold;
  let gone: string[];

  beforeEach(() => {
    clock = new ManualClock();
    hold = new WriteHold(clock);
    gone = [];
  });

  /** Returns whether the command has to wait. */
  const enter = (draft: Draft): boolean => {
    const held = hold.enter(draft);
    void held?.then(() => gone.push(draft.id));
    return held !== undefined;
  };

  it('are none while no capture asks for it', () => {
    expect(enter(routeDraft('a'))).to.equal(false);
    expect(enter(capture('s'))).to.equal(false);
    expect(enter(routeDraft('b'))).to.equal(false);
  });

  it('wait until it is decided, and not only until it is tried again', async () => {
    enter(capture('s', true));
    expect(enter(routeDraft('a'))).to.equal(true);
    hold.decided({ id: 's', status: 'moved' });
    hold.decided({ id: 'other', status: 201 });
    await turn();
    expect(gone).to.deep.equal([]);
    hold.decided({ id: 's', status: 201 });
    await turn();
    expect(gone).to.deep.equal(['a']);
    expect(enter(routeDraft('b'))).to.equal(false);
    expect(clock.pending).to.equal(0);
  });

  it('are changes of the configuration alone', () => {
    enter(capture('s', true));
    const remove = (kind: 'snapshots' | 'secrets'): Draft => ({ op: 'delete', kind, id: 'a' });
    expect(enter(remove('snapshots'))).to.equal(false);
    expect(enter({ op: 'activate', id: 'a' })).to.equal(false);
    expect(enter(capture('t'))).to.equal(false);
    expect(enter(remove('secrets'))).to.equal(true);
  });

  it('may be a batch with a snapshot, which holds the others and waits for none but another capture', async () => {
    const operations = OperationLines.of([]);
    const batch = (id: string): Draft => {
      const snapshot = { id, name: id, createdAt: 'now', checkedAt: 1, values: {}, activate: true };
      return { op: 'batch', id, operations, snapshot: { ...snapshot, holdsWrites: true } };
    };
    expect(enter(batch('b'))).to.equal(false);
    expect(enter(routeDraft('a'))).to.equal(true);
    hold.decided({ id: 'b', status: 'moved' });
    expect(enter(batch('b'))).to.equal(false);
    expect(enter(batch('c'))).to.equal(true);
    hold.decided({ id: 'b', status: 200 });
    await turn();
    expect(gone).to.deep.equal(['a', 'c']);
    expect(enter(routeDraft('d')), 'now c holds').to.equal(true);
  });

  it('wait for the last of several captures', async () => {
    enter(capture('s', true));
    enter(capture('t', true));
    enter(routeDraft('a'));
    hold.decided({ id: 's', status: 409 });
    await turn();
    expect(gone).to.deep.equal([]);
    hold.decided({ id: 't', status: 201 });
    await turn();
    expect(gone).to.deep.equal(['a']);
  });

  it('wait two seconds at most, however often captures are tried again', async () => {
    enter(capture('s', true));
    clock.advance(100);
    enter(routeDraft('a'));
    clock.advance(holdMs - 200);
    enter(capture('s', true));
    enter(routeDraft('b'));
    clock.advance(200);
    await turn();
    expect(gone, 'the first has waited its time').to.deep.equal(['a']);
    clock.advance(holdMs);
    await turn();
    expect(gone).to.deep.equal(['a', 'b']);
    expect(enter(routeDraft('c')), 'nobody heard of the capture again').to.equal(false);
    expect(clock.pending).to.equal(0);
  });
});
