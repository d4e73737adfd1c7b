import { expect } from 'chai';
import fc from 'fast-check';
import { configKinds, editableKinds } from '../../../src/model/kinds.ts';
import type { Command } from '../../../src/state/command.ts';
import { ConfigState } from '../../../src/state/config-state.ts';
import { RoundRows } from '../../../src/state/round-rows.ts';
import { plainDigests, StateHash } from '../../../src/state/state-hash.ts';
import { drain } from '../../../src/util/time-slice.ts';
import { put } from '../../support/commands.ts';
import { batches, commandOf, ownersAtWork, type Step, steps } from '../../support/random-commands.ts';
import { SlowModel } from '../../support/slow-model.ts';
import { contentOf } from '../../support/store-content.ts';

const seed = 20_260_101;

/** The commands of the steps, each proposed against the state that the ones before it left. */
function commandsOf(list: readonly Step[]): { command: Command; status: unknown; model: SlowModel }[] {
  const model = new SlowModel();
  const made: Command[] = [];
  return list.map((step, at) => {
    const again = step.retryOf === undefined ? undefined : made[at - step.retryOf];
    const command = again ?? commandOf(step, at + 1, model);
    made.push(command);
    return { command, status: model.apply(command, at + 1)?.status ?? 409, model };
  });
}

describe('ConfigState, over random commands', () => {
  const doesWhatTheModelDoes = (list: readonly Step[]): void => {
    const state = new ConfigState();
    const expected = commandsOf(list);
    for (const [at, { command, status }] of expected.entries()) {
      const round = state.prepare([{ index: at + 1, command }], at + 1);
      expect(round.results[0]?.result.status, `command ${at + 1}`).to.equal(status);
      round.commit();
    }
    const model = expected[0]?.model ?? new SlowModel();
    for (const kind of editableKinds) {
      const seen = state.list(kind).map(({ id, name, revision, spec }) => [id, name, revision, spec]);
      expect(seen).to.deep.equal(model.list(kind).map(({ id, name, revision, body }) => [id, name, revision, body]));
    }
    const snapshots = state.snapshots().map(({ id, values, entities }) => {
      const lists = configKinds.map((kind) => entities[kind].map(({ spec }) => spec));
      return [id, { lists, values }] as const;
    });
    expect(new Map(snapshots)).to.deep.equal(new Map(model.list('snapshots').map(({ id, body }) => [id, body])));
    expect(state.changedAt).to.equal(model.changedAt);
    expect(state.active).to.deep.equal(model.active);
    const rollouts = state.rollouts.map(({ id, snapshotId, state: now, step, epoch }) => {
      return { id, snapshotId, state: now, step, epoch };
    });
    expect(rollouts).to.deep.equal(model.rollouts);
    const drained = state.drains.endpoints.map(({ destinationId, endpoint }) => `${destinationId} ${endpoint}`);
    expect(drained).to.deep.equal(model.drained);
    expect(state.cookieKeys.keys.map(({ key }) => key)).to.deep.equal(model.cookieKeys.keys);
    expect(state.managedKeys.keys.map(({ id }) => id)).to.deep.equal(model.apiKeys);
    expect(state.pending).to.deep.equal(model.pending);
    expect(state.activations.map(({ index, snapshotId, reason }) => ({ index, snapshotId, reason }))).to.deep.equal(
      model.history,
    );
  };

  it('does what the slow model does', () => {
    fc.assert(fc.property(steps(60), doesWhatTheModelDoes), { numRuns: 150, seed });
  });

  /** `SLUICE_TEST_BATCHES=5000` for as many. */
  it('does what the slow model does for batch after batch', () => {
    const numRuns = Number(process.env.SLUICE_TEST_BATCHES ?? 500) / 25;
    fc.assert(fc.property(batches(25), doesWhatTheModelDoes), { numRuns, seed });
  });

  it('does what the slow model does for owners who publish beside the edits of others', () => {
    fc.assert(fc.property(ownersAtWork(40), doesWhatTheModelDoes), { numRuns: 150, seed });
  });

  it('comes to the same content, results and hash, however the log is cut into rounds', () => {
    fc.assert(
      fc.property(steps(40), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (list, sizes) => {
        const entries = commandsOf(list).map(({ command }, at) => ({ index: at + 1, command }));
        const single = new ConfigState();
        const one = entries.flatMap((entry) => {
          const round = single.prepare([entry], entry.index);
          round.commit();
          return round.results;
        });
        const grouped = new ConfigState();
        const many = [];
        for (let at = 0, next = 0; at < entries.length; next++) {
          const round = entries.slice(at, at + (sizes[next % sizes.length] ?? 1));
          at += round.length;
          const prepared = grouped.prepare(round, at);
          prepared.commit();
          many.push(...prepared.results);
        }
        expect(many).to.deep.equal(one);
        expect(contentOf(grouped)).to.equal(contentOf(single));
      }),
      { numRuns: 100, seed },
    );
  });

  it('is the same after it was written and loaded at any point', () => {
    fc.assert(
      fc.property(steps(40), fc.nat(39), (list, cut) => {
        const rows = new Map<string, Buffer>();
        let state = new ConfigState();
        const straight = new ConfigState();
        for (const [at, { command }] of commandsOf(list).entries()) {
          const entry = { index: at + 1, command };
          straight.prepare([entry], at + 1).commit();
          const round = state.prepare([entry], at + 1);
          for (const { key, body } of round.rows) {
            if (body === undefined) rows.delete(key);
            else rows.set(key, Buffer.from(body));
          }
          round.commit();
          if (at !== cut) continue;
          const stored = [...rows].map(([key, body]) => ({ key, body, digest: plainDigests.of(key, body) }));
          const loaded = ConfigState.load(stored);
          if (typeof loaded === 'string') throw new Error(loaded);
          expect(contentOf(loaded)).to.equal(contentOf(state));
          state = loaded;
        }
        expect(contentOf(state)).to.equal(contentOf(straight));
        expect(state.logTime).to.equal(straight.logTime);
      }),
      { numRuns: 100, seed },
    );
  });

  it('has a hash that depends on every row and not on the order of writing', () => {
    const hashes = [
      [put('routes', 'a'), put('routes', 'b')],
      [put('routes', 'b'), put('routes', 'a')],
      [put('routes', 'b'), put('routes', 'c')],
    ].map((commands) => {
      const hash = new StateHash(plainDigests);
      const rows = new RoundRows();
      for (const { id, spec } of commands) rows.put(`e/routes/${id}`, JSON.stringify(spec), 1);
      drain(hash.fold(rows, 1));
      return hash.text;
    });
    expect(hashes[0]).to.match(/^[0-9a-f]{16}$/);
    expect(hashes[1]).to.equal(hashes[0]);
    expect(hashes[2]).to.not.equal(hashes[0]);
  });

  it('has the hash of an empty state again when every row is gone', () => {
    const hash = new StateHash(plainDigests);
    const rows = new RoundRows();
    rows.put('e/routes/a', 'x', 1);
    drain(hash.fold(rows, 1));
    const gone = new RoundRows();
    gone.delete('e/routes/a', 2);
    drain(hash.fold(gone, 2));
    expect(hash.text).to.equal(new StateHash(plainDigests).text);
  });
});
