import { expect } from 'chai';
import { writtenKinds } from '../../../src/model/kinds.ts';
import { configurationOf, proxyConfigOf } from '../../../src/snapshot/build.ts';
import { configurationTexts, type Form, snapshotTexts } from '../../../src/snapshot/render.ts';
import { staged } from '../../support/staged.ts';

const { entities } = staged({
  listeners: { l: { port: 80 } },
  destinations: { d: { host: 'h', port: 1, options: { tls: { key: 'a {{secret:value:k}} {{secret:env:E}}' } } } },
  routes: { b: { redirect: { host: '{{secret:vault:x}}' } }, a: { match: { path: '/ü' } } },
});
const values = { '{{secret:value:k}}': 'K"\n', '{{secret:env:E}}': '$& {{secret:value:k}}' };
const snapshot = { id: 's', name: 'S "1"', revision: 5, createdAt: '2026-01-01T00:00:00.000Z', entities, values };
const resolvedKey = 'a K"\n $& {{secret:value:k}}';

describe('a snapshot for a proxy', () => {
  it('has every reference replaced once, and what was put in is not read again', () => {
    const { destinations } = configurationOf(snapshot);
    expect(destinations).to.deep.equal([
      { id: 'd', name: 'd name', host: 'h', port: 1, options: { tls: { key: resolvedKey } } },
    ]);
  });

  it('is made of the stored objects where there is nothing to replace', () => {
    expect(configurationOf(snapshot).listeners[0]).to.equal(entities.listeners[0]?.spec);
  });

  it('does not change what is stored', () => {
    configurationOf(snapshot);
    expect(entities.destinations[0]?.spec).to.have.nested.property('options.tls.key').that.includes('{{secret:env:E}}');
  });

  it('carries the index of its activation', () => {
    expect(proxyConfigOf(snapshot, 9)).to.include({ index: 9, id: 's', name: 'S "1"', createdAt: snapshot.createdAt });
  });
});

describe('a snapshot as text', () => {
  const read = (form: Form) => JSON.parse([...snapshotTexts(snapshot, form)].join('')) as Record<string, unknown>;

  it('has its lists ascending by id, never null, and no secrets', () => {
    const text = [...snapshotTexts(snapshot, 'references')].join('');
    expect(text).to.match(
      /^\{"id":"s","name":"S \\"1\\"","createdAt":"2026-01-01T00:00:00.000Z","snapshot":\{"listeners":\[/,
    );
    expect(Object.keys(read('resolved').snapshot as object)).to.deep.equal([
      'listeners',
      'routes',
      'groups',
      'destinations',
      'middlewares',
    ]);
    expect(read('resolved')).to.have.nested.property('snapshot.routes[0].id', 'a');
    expect(read('resolved')).to.have.nested.property('snapshot.groups').that.deep.equals([]);
  });

  it('shows values, references or stars', () => {
    const key = 'snapshot.destinations[0].options.tls.key';
    expect(read('resolved')).to.have.nested.property(key, resolvedKey);
    expect(read('references')).to.have.nested.property(key, 'a {{secret:value:k}} {{secret:env:E}}');
    expect(read('masked')).to.have.nested.property(key, '***');
  });

  it('masks every string that asks for a secret, of any source, and nothing else', () => {
    expect(read('masked')).to.have.nested.property('snapshot.routes[1].redirect.host', '***');
    expect(read('masked')).to.have.nested.property('snapshot.destinations[0].host', 'h');
  });

  it('says in text what the proxy is given as an object', () => {
    const { streamRoutes, consumers, ...lists } = configurationOf(snapshot);
    expect([streamRoutes, consumers], 'optional kinds without entities have no text').to.deep.equal([[], []]);
    expect(JSON.parse([...configurationTexts(snapshot, 'resolved', writtenKinds)].join(''))).to.deep.equal(lists);
  });
});
