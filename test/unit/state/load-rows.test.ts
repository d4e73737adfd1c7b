import { expect } from 'chai';
import fc from 'fast-check';
import { ConfigState } from '../../../src/state/config-state.ts';
import { keys, parseKey } from '../../../src/state/row-keys.ts';
import { plainDigests } from '../../../src/state/state-hash.ts';
import { Entity } from '../../../src/state/stored-entity.ts';
import { applyRound, capture, put, remove, update } from '../../support/commands.ts';

const ids = ['a', 'b', 'ba', 'c', 'd'];
type Step = readonly [what: 'write' | 'remove' | 'capture', id: string];
const step = fc.tuple(fc.constantFrom('write', 'write', 'remove', 'capture'), fc.constantFrom(...ids));

/** A state, and one that was loaded from its rows. */
function lived(steps: readonly Step[]): { readonly state: ConfigState; readonly loaded: ConfigState } {
  const state = new ConfigState();
  const rows = new Map<string, Buffer>();
  for (const [at, [what, id]] of steps.entries()) {
    const fields = { text: `ä\n${at}` };
    const isThere = state.get('routes', id) !== undefined;
    const write = isThere ? update('routes', id, fields) : put('routes', id, fields);
    const command =
      what === 'capture'
        ? capture(`s${at}`, { checkedAt: state.changedAt })
        : what === 'write'
          ? write
          : remove('routes', id);
    for (const { key, body } of applyRound(state, command).rows) {
      if (body === undefined) rows.delete(key);
      else rows.set(key, Buffer.from(body));
    }
  }
  const stored = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  const loaded = ConfigState.load(stored.map(([key, body]) => ({ key, body, digest: plainDigests.of(key, body) })));
  if (typeof loaded === 'string') throw new Error(loaded);
  return { state, loaded };
}

const textOf = ({ id, revision, json, name }: { id: string; revision: number; json: string; name: string }) =>
  `${id} ${revision} ${name} ${json}`;

describe('rows that are loaded', () => {
  it('give every snapshot what it captured, and share what they have in common as the state did', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
        const { state, loaded } = lived(steps);
        const routes = (of: ConfigState) =>
          of.snapshots().map(({ entities }) => (entities.routes as readonly Entity[]).map(textOf));
        expect(routes(loaded)).to.deep.equal(routes(state));
        const versions = new Map<string, unknown>();
        for (const list of [loaded.list('routes'), ...loaded.snapshots().map(({ entities }) => entities.routes)]) {
          for (const entity of list) {
            const version = `${entity.id} ${entity.revision}`;
            expect(versions.get(version) ?? entity, version).to.equal(entity);
            versions.set(version, entity);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('give an entity its name, wherever and however it stands', () => {
    const named = (spec: object): string => new Entity('a', 1, JSON.stringify(spec)).name;
    expect(named({ id: 'a', name: 'plain' })).to.equal('plain');
    expect(named({ id: 'a', name: 'with "quotes" and \\' })).to.equal('with "quotes" and \\');
    expect(named({ id: 'a', text: '","name":"other"', name: 'last' })).to.equal('last');
    expect(named({ name: 'first', id: 'a' })).to.equal('first');
    expect(named({ id: 'a' })).to.equal('');
    expect(named({ id: 'a', name: 7 })).to.equal('');
  });

  it('are placed by their keys', () => {
    expect(parseKey(keys.entity('routes', 'a.b'))).to.deep.equal({ row: 'entity', kind: 'routes', id: 'a.b' });
    expect(parseKey(keys.entity('secrets', 'x'))).to.deep.equal({ row: 'entity', kind: 'secrets', id: 'x' });
    for (const key of ['e/', 'e/routes', 'e/routes/', 'e/route/a', 'e/routess/a']) {
      expect(parseKey(key), key).to.equal(undefined);
    }
  });

  it('of a version that notes no times of secrets have the hash of those that do, before and after the next write', () => {
    const state = new ConfigState();
    const { rows } = applyRound(state, put('secrets', 'a', { value: 'one' }));
    const earlier = rows.flatMap(({ key, body }) => {
      if (body === undefined) return [];
      const text = key === keys.entity('secrets', 'a') ? body.toString().replace(/^1 \d+/, '1') : body.toString();
      return [{ key, body: Buffer.from(text), digest: plainDigests.of(key, text) }];
    });
    const loaded = ConfigState.load(earlier);
    if (typeof loaded === 'string') throw new Error(loaded);
    expect(loaded.get('secrets', 'a')?.changedAt).to.equal(undefined);
    expect(state.get('secrets', 'a')?.changedAt).to.be.a('number');
    const commands = [
      update('secrets', 'a', { value: 'one', owner: 'team' }),
      update('secrets', 'a', { value: 'two' }),
    ];
    for (const command of commands) {
      expect(loaded.hash).to.equal(state.hash);
      for (const each of [state, loaded]) applyRound(each, command);
    }
    expect(loaded.hash).to.equal(state.hash);
  });
});
