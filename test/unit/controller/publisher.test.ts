import { expect } from 'chai';
import type { Entity } from '../../../src/controller/graph/facts.ts';
import { EntitySet } from '../../../src/controller/publish/entity-set.ts';
import { Publisher } from '../../../src/controller/publish/publisher.ts';
import { type Fleet, type SluiceApi, SluiceRefusal } from '../../../src/controller/publish/sluice-api.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import { systemClock } from '../../../src/util/clock.ts';
import { eventually } from '../../support/eventually.ts';

interface Sent {
  readonly operations: readonly {
    readonly op: string;
    readonly kind: string;
    readonly id?: string;
    readonly body?: { id: string };
  }[];
}

/** Sluice as the publisher sees it: batches are kept, and refused or installed on command. */
class SluiceStub {
  readonly batches: Sent[] = [];
  /** Numbers of operations of large batches, as they are told beside them. */
  readonly large: number[] = [];
  isOld = false;
  /** Operations on the fence beside those of batches. */
  readonly fences: object[] = [];
  stored: Record<string, object[]> = {};
  installed = 0;
  readonly posts: (readonly [string, object])[] = [];
  readonly answers: Record<string, unknown> = {
    '/rollouts': [],
    '/staged/diff': { entities: { created: [], changed: [], deleted: [] } },
  };
  refusedId: string | undefined;

  api(): SluiceApi {
    const stub = {
      largeBatch: async (sent: Sent, operations: number) => {
        this.large.push(operations);
        if (this.isOld) throw new SluiceRefusal(404, 'no such path: /api/v1/batch/large', undefined);
        const { index } = await stub.batch(sent);
        return { index, changed: operations };
      },
      list: async (kind: string) => this.stored[kind] ?? [],
      get: async (path: string) => this.answers[path.split('?')[0] ?? ''] ?? [{ index: 1 }],
      post: async (path: string, body: object) => {
        this.posts.push([path, body]);
        return { id: 'r' };
      },
      batch: async (sent: Sent) => {
        const operations = sent.operations.filter(({ body }) => !body?.id.startsWith('controller:'));
        if (operations.length === 0) return { results: [{ etag: '"7"' }] };
        this.fences.push(...sent.operations.filter(({ body }) => body?.id.startsWith('controller:')));
        const body = { ...sent, operations };
        const at = body.operations.findIndex((operation) => operation.body?.id === this.refusedId);
        if (this.refusedId !== undefined && at >= 0) throw new SluiceRefusal(400, 'not so', at);
        this.batches.push(body);
        return { index: this.batches.length + 1 };
      },
      fleet: async (): Promise<Fleet> => ({
        proxies: [{ id: 'p', state: 'current', installed: { index: this.installed, snapshotId: null, sha256: '' } }],
      }),
    };
    return stub as unknown as SluiceApi;
  }
}

const route = (id: string, more: object = {}): Entity => ({ kind: 'routes', body: { id, name: id, ...more } });

function bed() {
  const sluice = new SluiceStub();
  const entities = new EntitySet();
  /** Keys of entities that were told as refused, with the text, or as taken, without one. */
  const refusals: (readonly [key: string, text: string | undefined])[] = [];
  const publisher = new Publisher({
    api: sluice.api(),
    entities,
    clock: systemClock,
    logger: silentLogger,
    owner: 'me',
    instance: 'test',
    onProgress: () => {},
    onRefused: ({ key, text }) => refusals.push([key, text]),
  });
  const put = (holder: string, ...wanted: Entity[]): void => {
    publisher.changed(holder, entities.put(holder, wanted));
    publisher.kick();
  };
  return { sluice, publisher, put, refusals };
}

describe('publisher', () => {
  it('writes the difference to what Sluice has of its owner, and deletes what is wanted no more', async () => {
    const { sluice, publisher, put } = bed();
    sluice.stored = {
      routes: [
        { id: 'a', name: 'a', owner: 'me' },
        { id: 'old', name: 'old', owner: 'me' },
      ],
    };
    put('h', route('a'), route('b'));
    publisher.start(0);
    await eventually(() => expect(sluice.batches).to.have.length(1));
    expect(sluice.batches[0]?.operations.map(({ op, id, body }) => [op, id ?? body?.id])).to.have.deep.members([
      ['upsert', 'b'],
      ['delete', 'old'],
    ]);
    expect(sluice.fences.map((fence) => (fence as { ifMatch: string }).ifMatch)).to.deep.equal(['"7"']);
    publisher.stop();
  });

  it('writes nothing where Sluice has all of it, and takes it for installed once the fleet has it', async () => {
    const { sluice, publisher, put } = bed();
    sluice.stored = { routes: [{ name: 'a', id: 'a', owner: 'me' }] };
    put('h', route('a'));
    publisher.start(0);
    expect(publisher.isInstalled('h')).to.equal(false);
    sluice.installed = 1;
    await eventually(() => expect(publisher.isInstalled('h')).to.equal(true));
    expect(sluice.batches).to.deep.equal([]);
    publisher.stop();
  });

  it('says that something is installed only when every proxy has it', async () => {
    const { sluice, publisher, put } = bed();
    put('h', route('a'));
    publisher.start(0);
    await eventually(() => expect(sluice.batches).to.have.length(1));
    expect(publisher.isInstalled('h')).to.equal(false);
    sluice.installed = 2;
    await eventually(() => expect(publisher.isInstalled('h')).to.equal(true));
    publisher.stop();
  });

  it('tells each refused entity as refused no more when all of them are tried again', async () => {
    const { sluice, publisher, put, refusals } = bed();
    sluice.refusedId = 'bad';
    put('h', route('bad'));
    publisher.start(0);
    await eventually(() => expect(refusals).to.deep.equal([['routes/bad', '{"id":"bad","name":"bad"}']]));
    publisher.stop();
    publisher.retryRefused();
    expect(refusals.slice(1)).to.deep.equal([['routes/bad', undefined]]);
  });

  it('leaves an entity out that Sluice refuses, and writes it when it is different', async () => {
    const { sluice, publisher, put } = bed();
    sluice.refusedId = 'bad';
    put('good', route('a'));
    put('bad', route('bad'));
    publisher.start(0);
    await eventually(() => expect(sluice.batches).to.have.length(1));
    expect(sluice.batches[0]?.operations.map(({ body }) => body?.id)).to.deep.equal(['a']);
    expect(publisher.refusalOf('bad')).to.contain('not so');
    expect(publisher.refusalOf('good')).to.equal(undefined);
    sluice.refusedId = undefined;
    put('bad', route('bad', { priority: 1 }));
    await eventually(() => expect(sluice.batches).to.have.length(2));
    await eventually(() => expect(publisher.refusalOf('bad')).to.equal(undefined));
    publisher.stop();
  });

  it('writes where the fence is of a later term than its own: a Lease that was deleted counts anew', async () => {
    const { sluice, publisher, put } = bed();
    sluice.stored = { middlewares: [{ id: 'controller:me', name: 'f', owner: 'me', labels: { term: '9' } }] };
    put('h', route('a'));
    publisher.start(0);
    await eventually(() => expect(sluice.batches).to.have.length(1));
    expect((sluice.fences[0] as { body: { labels: object } }).body.labels).to.include({ term: '10' });
    publisher.stop();
  });

  const manyRoutes = Array.from({ length: 20_000 }, (_, n) => route(`r${n}`));

  it('writes more than a usual batch takes at once, as a large one, and goes on under the same fence', async () => {
    const { sluice, publisher, put } = bed();
    put('h', ...manyRoutes);
    publisher.start(0);
    await eventually(() => expect(sluice.batches).to.have.length(1));
    expect(sluice.large).to.deep.equal([20_000]);
    put('i', route('one-more'));
    await eventually(() =>
      expect(sluice.batches.map(({ operations }) => operations.length)).to.deep.equal([20_000, 1]),
    );
    put('j', ...Array.from({ length: 17 }, (_, n) => route(`long${n}`, { note: 'x'.repeat(2 ** 20) })));
    await eventually(() => expect(sluice.batches).to.have.length(3));
    expect(sluice.large).to.deep.equal([20_000, 17]);
    expect(new Set(sluice.fences.map((fence) => (fence as { ifMatch: string }).ifMatch))).to.deep.equal(
      new Set(['"7"']),
    );
    publisher.stop();
  });

  it('writes in usual batches where Sluice is of an older version, which has no large ones', async () => {
    const { sluice, publisher, put } = bed();
    sluice.isOld = true;
    put('h', ...manyRoutes);
    publisher.start(0);
    await eventually(() =>
      expect(sluice.batches.map(({ operations }) => operations.length)).to.deep.equal([19_999, 1]),
    );
    expect(sluice.large).to.have.length(1);
    publisher.stop();
  });

  it('keeps an entity while one of several holders wants it', () => {
    const entities = new EntitySet();
    entities.put('one', [route('shared')]);
    entities.put('two', [route('shared')]);
    expect(entities.put('one', [])).to.deep.equal([]);
    expect(entities.put('two', [])).to.deep.equal(['routes/shared']);
  });

  it('discards at its beginning what it has staged and is not live: a candidate that an earlier leader has left', async () => {
    const { sluice, publisher, put } = bed();
    sluice.answers['/staged/diff'] = { entities: { created: [], changed: [{ id: 'a' }], deleted: [] } };
    put('h', route('a'));
    publisher.start(0);
    await eventually(() => expect(sluice.batches).to.have.length(1));
    expect(sluice.posts).to.deep.equal([['/staged/discard', { owner: 'me' }]]);
    publisher.stop();
  });

  it('leaves what is staged alone where its fence is the only edit', async () => {
    const { sluice, publisher, put } = bed();
    sluice.answers['/staged/diff'] = { entities: { created: [{ id: 'controller:me' }], changed: [], deleted: [] } };
    put('h', route('a'));
    publisher.start(0);
    await eventually(() => expect(sluice.batches).to.have.length(1));
    expect(sluice.posts).to.deep.equal([]);
    publisher.stop();
  });
});
