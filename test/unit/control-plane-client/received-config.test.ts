// contract.md §4.2: what a snapshot of any control plane becomes.
import { expect } from 'chai';
import fc from 'fast-check';
import { readSnapshotEvent, UnusableEvent } from '../../../src/control-plane-client/received-config.ts';

const event = (lists: object, more: object = {}): string =>
  JSON.stringify({ id: 's', name: 'v1', createdAt: '2031-01-01T00:00:00Z', snapshot: lists, ...more });

const read = (lists: object, more: object = {}) => readSnapshotEvent(event(lists, more));

describe('a received snapshot', () => {
  it('may lack lists, have null for them, and have unknown fields', () => {
    const { config, problems } = read({ routes: null, listeners: [{ id: 'l', port: 80, tls: null, colour: 'red' }] });
    expect(config).to.deep.equal({
      id: 's',
      name: 'v1',
      createdAt: '2031-01-01T00:00:00Z',
      snapshot: {
        listeners: [{ id: 'l', name: 'l', port: 80, colour: 'red' }],
        destinations: [],
        routes: [],
        groups: [],
        middlewares: [],
      },
    });
    expect(problems).to.deep.equal([]);
  });

  it('takes null and the empty text of typed clients for absent', () => {
    const route = { id: 'r', match: { path: '', pathPrefix: '/a', headers: null }, forward: null, middlewareIds: null };
    const { config } = read({ routes: [{ ...route, directResponse: { status: 200, body: '' } }] });
    expect(config.snapshot.routes).to.deep.equal([
      { id: 'r', name: 'r', match: { pathPrefix: '/a' }, directResponse: { status: 200 } },
    ]);
  });

  it('lets a duration that is none give way to the default, with a warning', () => {
    const { config, warnings, problems } = read({
      destinations: [{ id: 'd', host: 'h', port: 1, options: { timeouts: { connect: '5', request: '1s' } } }],
    });
    expect(config.snapshot.destinations[0]?.options?.timeouts).to.deep.equal({ request: '1s' });
    expect(warnings.map(({ pointer }) => pointer)).to.deep.equal(['/destinations/d/options/timeouts/connect']);
    expect(problems).to.deep.equal([]);
  });

  it('keeps the short form of proxyErrors as the long one', () => {
    const { config } = read({ listeners: [{ id: 'l', port: 80, proxyErrors: 'full' }] });
    expect(config.snapshot.listeners[0]?.proxyErrors).to.deep.equal({ detail: 'full' });
  });

  it('leaves out a listener, a destination, a middleware that cannot be read, and names them', () => {
    const { config, problems } = read({
      listeners: [{ id: 'a', port: 0 }, { id: 'b', port: 81 }, 'x', { port: 82 }],
      destinations: [{ id: 'd', host: 7, port: 1 }],
      middlewares: [{ id: 'm', type: 'sorcery' }],
    });
    expect(config.snapshot.listeners.map(({ id }) => id)).to.deep.equal(['b']);
    expect([config.snapshot.destinations, config.snapshot.middlewares]).to.deep.equal([[], []]);
    expect(problems.map(({ pointer }) => pointer)).to.deep.equal([
      '/listeners/a/port',
      '/listeners/2',
      '/listeners/3',
      '/destinations/d/host',
      '/middlewares/m/type',
    ]);
  });

  it('closes a route whose action cannot be read, and all entries of a group whose protections cannot', () => {
    const { config, problems } = read({
      routes: [
        {
          ...{ id: 'r', match: { pathPrefix: '/a' }, priority: 7, listenerIds: ['l'] },
          ...{ directResponse: { status: 'no' }, middlewareIds: ['m'] },
        },
      ],
      groups: [{ id: 'g', pathPrefix: '/g', routeIds: ['r'], listenerIds: ['l/s'], middlewareIds: 'm' }],
    });
    expect(config.snapshot.routes).to.deep.equal([
      { id: 'r', name: 'r', match: { pathPrefix: '/a' }, priority: 7, listenerIds: ['l'] },
    ]);
    expect(config.snapshot.groups).to.deep.equal([
      {
        ...{ id: 'g', name: 'g', pathPrefix: '/g', routeIds: ['r'] },
        ...{ listenerIds: ['l/s'], middlewareIds: ['(unreadable)'] },
      },
    ]);
    expect(problems.map(({ pointer }) => pointer)).to.deep.equal([
      '/routes/r/directResponse/status',
      '/groups/g/middlewareIds',
    ]);
  });

  it('is refused whole when it cannot be told which requests a route or a group is for', () => {
    const lists = [
      { routes: [{ id: 'r', match: { path: 1 } }] },
      { routes: [{ match: {} }] },
      { routes: [7] },
      { groups: [{ id: 'g', hostnames: 'x' }] },
      { groups: [{ id: 'g', routeIds: {} }] },
      { groups: [{ id: 'g', listenerIds: 'l' }] },
      { routes: [{ id: 'r', match: {}, listenerIds: [7] }] },
      { routes: [{ id: 'r', match: {}, priority: 'high' }] },
      { routes: 'all' },
    ];
    for (const each of lists) expect(() => read(each), JSON.stringify(each)).to.throw(UnusableEvent);
  });

  it('judges only the block that a type or an algorithm chooses, beyond its JSON types', () => {
    const balancing = (endpointBalancing: object) =>
      read({ destinations: [{ id: 'd', host: 'h', port: 1, options: { endpointBalancing } }] }).problems.length;
    expect(balancing({ ringHash: { ringSize: { min: 0 } } })).to.equal(0);
    expect(balancing({ algorithm: 'RING_HASH', ringHash: { ringSize: { min: 0 } } })).to.equal(1);
    expect(balancing({ ringHash: { ringSize: { min: 'x' } } })).to.equal(1);
  });

  it('is not read when it is no snapshot at all, and what it held is not quoted', () => {
    for (const data of ['', '{', 'null', '[]', '7', '{"id":"s"}', '{"snapshot":[]}', '{"snapshot":"S3CRET"'])
      expect(() => readSnapshotEvent(data), data)
        .to.throw(UnusableEvent)
        .with.property('message')
        .not.contain('S3CRET');
  });

  it('leaves references to secrets as they are', () => {
    const text = '{{secret:env:HOME}}';
    const { config } = read({ routes: [{ id: 'r', directResponse: { status: 200, body: text } }] });
    expect(config.snapshot.routes[0]?.directResponse?.body).to.equal(text);
  });

  it('knows secrets by the id of their entity, for entities that are left out move the others', () => {
    const { secrets, config } = read(
      { destinations: [{ id: 'bad' }, { id: 'd/1', host: 'h', port: 1 }] },
      { secrets: ['/snapshot/destinations/1/options/tls/key', '/snapshot/nothing/1/x', 7] },
    );
    expect(secrets).to.deep.equal(['/destinations/d~11/options/tls/key']);
    expect(config.snapshot.destinations.map(({ id }) => id)).to.deep.equal(['d/1']);
    expect(config.secrets).to.deep.equal(['/snapshot/destinations/0/options/tls/key']);
    expect(read({}).secrets).to.equal(undefined);
  });

  it('never throws anything but UnusableEvent', () => {
    const list = fc.array(
      fc.oneof(fc.jsonValue(), fc.object({ key: fc.constantFrom('id', 'match', 'port', 'options') })),
    );
    const lists = fc.record({ listeners: list, destinations: list, routes: list, groups: list, middlewares: list });
    fc.assert(
      fc.property(lists, (snapshot) => {
        try {
          read(snapshot);
        } catch (error) {
          expect(error).to.be.instanceOf(UnusableEvent);
        }
      }),
      { numRuns: 200 },
    );
  });
});
