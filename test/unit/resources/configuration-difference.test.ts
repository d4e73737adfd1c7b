// Work of a difference of two large configurations: counted, not timed.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { findingsOf } from '../../../src/findings/findings.ts';
import { perKind } from '../../../src/model/kinds.ts';
import type { RecordedBatch } from '../../../src/model/recent-request.ts';
import { replay } from '../../../src/proxy/replay/replay.ts';
import { configurationDifference } from '../../../src/resources/diff/configuration-difference.ts';
import { configurationOf } from '../../../src/snapshot/build.ts';
import type { Captured } from '../../../src/snapshot/staged.ts';
import type { Spec } from '../../../src/state/command.ts';
import { Entity } from '../../../src/state/stored-entity.ts';
import type { Stored } from '../../../src/state/view.ts';
import { cleanTable } from '../../support/clean-table.ts';

const count = 4_000;
const find: Parameters<typeof configurationDifference>[0] = (configuration, holdsSecret) =>
  findingsOf(configuration, { holdsSecret, nowMs: 0 });

/** Routes whose priorities count how often they are read: once for each entry that is compiled. */
function countedRoutes(work: { compiled: number }): readonly Stored[] {
  return cleanTable(count).routes.map((route) => {
    const get = () => {
      work.compiled += 1;
      return 0;
    };
    return Entity.of(route.id, 1, Object.defineProperty({ ...route }, 'priority', { get }) as unknown as Spec);
  });
}

const others = cleanTable(1);
const capturedOf = (routes: readonly Stored[]): Captured => ({
  entities: perKind((kind) =>
    kind === 'routes'
      ? routes
      : (kind === 'listeners' ? others.listeners : kind === 'destinations' ? cleanTable(50).destinations : []).map(
          (each) => Entity.of(each.id, 1, each as unknown as Spec),
        ),
  ),
  values: {},
});

const elsewhere = ({ id, spec }: Stored, path: string): Stored => Entity.of(id, 2, { ...spec, match: { path } });

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function* noRequests(): AsyncGenerator<RecordedBatch> {}

describe('the difference of two large configurations', () => {
  it('compiles each route once, for findings of both, for a replay, and for the next question', async () => {
    const work = { compiled: 0 };
    const routes = countedRoutes(work);
    const from = capturedOf(routes);
    work.compiled = 0;
    const ask = async (path: string) => {
      const to = {
        ...from,
        entities: { ...from.entities, routes: [elsewhere(routes[0] as Stored, path), ...routes.slice(1)] },
      };
      const { entities } = await configurationDifference(find, from, to);
      expect(entities.changed).to.have.lengthOf(1);
      const report = await replay(configurationOf(from), configurationOf(to), noRequests());
      expect(report.requests).to.equal(0);
    };
    await ask('/one');
    expect(work.compiled).to.be.within(count, count + 20);
    collect();
    await ask('/two');
    expect(work.compiled).to.be.within(count, count + 40);
  });

  it('names the routes that a change reaches by their own fields and by what they name', async () => {
    const routes = countedRoutes({ compiled: 0 });
    const from = capturedOf(routes);
    const renamed = from.entities.destinations.map((each) =>
      each.id === 'd7' ? Entity.of(each.id, 2, { ...each.spec, port: 81 }) : each,
    );
    const changed = [...routes.slice(0, -1), elsewhere(routes.at(-1) as Stored, '/last')];
    const withRoute = { ...from, entities: { ...from.entities, routes: changed.slice(1) } };
    const one = await configurationDifference(find, from, withRoute);
    expect(one.routes.map(({ id }) => id)).to.deep.equal(['r003999']);
    expect(one.routes[0]?.why.every((text) => text.startsWith('route r003999: /match'))).to.equal(true);
    expect(one.entities.deleted.map(({ id }) => id)).to.deep.equal(['r000000']);
    const withDestination = { ...from, entities: { ...from.entities, destinations: renamed } };
    const other = await configurationDifference(find, from, withDestination);
    expect(other.routes).to.have.lengthOf(count / 50);
    expect(new Set(other.routes.flatMap(({ why }) => why))).to.deep.equal(new Set(['destination d7: /port']));
  });
});

describe('the difference of two configurations', () => {
  const captured = (kinds: Partial<Record<string, readonly object[]>>, values: Captured['values'] = {}): Captured => ({
    entities: perKind((kind) =>
      (kinds[kind] ?? []).map((each) => Entity.of((each as { id: string }).id, 1, each as Spec)),
    ),
    values,
  });

  it('names up to ten consumers for a route that tells them apart, and the number of more', async () => {
    const table = {
      middlewares: [{ id: 'm', name: 'm', type: 'apiKey', apiKey: { sources: { header: 'X-Key' } } }],
      routes: ['keyed', 'open'].map((id) => ({
        ...{ id, name: id, match: { path: `/${id}` }, directResponse: { status: 200 } },
        ...(id === 'keyed' && { middlewareIds: ['m'] }),
      })),
    };
    const consumers = Array.from({ length: 11 }, (_, at) => {
      const id = `c${String(at).padStart(2, '0')}`;
      return { id, name: id, credentials: [{ type: 'apiKey', key: `key ${at}` }] };
    });
    const reached = async (count: number) => {
      const to = captured({ ...table, consumers: consumers.slice(0, count) });
      return (await configurationDifference(find, captured(table), to)).routes;
    };
    const why = consumers.slice(0, 10).map(({ name }) => `consumer ${name}: created`);
    expect(await reached(0)).to.deep.equal([]);
    expect(await reached(10)).to.deep.equal([{ id: 'keyed', name: 'keyed', why }]);
    const [{ why: ofMore } = { why: [] }] = await reached(11);
    expect(ofMore).to.deep.equal(['consumers: 11 created, changed or deleted']);
  });

  it('changes secrets with another value alone, and none that is no longer referred to', async () => {
    const text = (id: string, source = 'value') => `{{secret:${source}:${id}}}`;
    const from = captured(
      {},
      { [text('z')]: '1', [text('b')]: '1', [text('c')]: '1', [text('a')]: '1', [text('e', 'env')]: '1' },
    );
    const to = captured({}, { [text('z')]: '2', [text('b')]: '1', [text('a')]: '2', [text('e', 'env')]: '2' });
    const { entities } = await configurationDifference(find, from, to);
    const changes = [{ pointer: '/value', from: '***', to: '***' }];
    const changed = ['a', 'z'].map((id) => ({ kind: 'secrets', id, name: id, changes }));
    expect(entities).to.deep.equal({ created: [], changed, deleted: [] });
  });
});
