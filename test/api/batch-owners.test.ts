import { expect } from 'chai';
import { ApiServer, type ServerSetup } from '../support/api-server.ts';
import type { Answer } from '../support/http-call.ts';
import { body } from '../support/resources.ts';

interface Change {
  readonly pointer: string;
  readonly from: unknown;
  readonly to: unknown;
}

const route = (name: string, text: string, more: object = {}) =>
  body('routes', name, { directResponse: { status: 200, body: text }, ...more });
const upsert = (name: string, text: string, more: object = {}) => ({
  op: 'upsert',
  kind: 'routes',
  id: name,
  body: { id: name, ...route(name, text, more) },
});
const remove = (id: string) => ({ op: 'delete', kind: 'routes', id });

describe('a batch of an owner', () => {
  let api: ApiServer;
  let count = 0;

  const start = async (setup: ServerSetup = {}): Promise<void> => {
    api = await ApiServer.start(setup);
  };

  beforeEach(() => start());
  afterEach(() => api.stop());

  const send = (operations: readonly object[], more: object = {}, headers: Record<string, string> = {}) =>
    api.call('POST', '/batch', { body: { operations, ...more }, headers });
  const done = async (...parameters: Parameters<typeof send>): Promise<Record<string, unknown>> => {
    const answer = await send(...parameters);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json as Record<string, unknown>;
  };
  const dry = (operations: readonly object[], more: object = {}, headers: Record<string, string> = {}) =>
    api.call('POST', '/batch?dryRun=true', { body: { operations, ...more }, headers });
  const live = (more: object = {}) => {
    count += 1;
    return { snapshot: { name: `live ${count}`, activate: true, base: 'active', ...more } };
  };
  const texts = (routes: unknown): Record<string, string> =>
    Object.fromEntries(
      (routes as { name: string; directResponse?: { body: string } }[]).map((each) => [
        each.name,
        each.directResponse?.body ?? '',
      ]),
    );
  const staged = async () => texts((await api.call('GET', '/routes')).json);
  const active = () => texts(api.feed.current?.snapshot.routes ?? []);
  const refused = (answer: Answer, status: number): string => {
    expect(answer.status, answer.text).to.equal(status);
    return (answer.json as { error: string }).error;
  };

  describe('by its name', () => {
    it('makes what has no owner its own, and leaves what another has', async () => {
      await done([upsert('free', 'a'), upsert('theirs', 'a', { owner: 'pay' })]);
      const { warnings } = await done([upsert('free', 'b'), upsert('theirs', 'b'), upsert('new', 'b')], {
        owner: 'shop',
      });
      expect(warnings).to.have.length(1);
      expect(warnings).to.have.nested.property('[0].pointer', '/routes/theirs/owner');
      const { json } = await api.call('GET', '/routes');
      const owners = (json as { id: string; owner: string }[]).map(({ id, owner }) => [id, owner]);
      expect(owners).to.deep.equal([
        ['free', 'shop'],
        ['new', 'shop'],
        ['theirs', 'pay'],
      ]);
      expect(await done([upsert('free', 'b')], { owner: 'shop' })).to.have.nested.property('results[0].changed', false);
    });

    it('is refused in another form, by field', async () => {
      expect(refused(await send([], { owner: 7 }), 400)).to.equal('/owner must be a string');
      expect(refused(await send([], { prune: true }), 400)).to.equal('/prune needs an owner beside the operations');
      expect(refused(await send([], { owner: 'a', prune: ['snapshots'] }), 400)).to.match(
        /^\/prune must be true, or a list/,
      );
      const faults: [snapshot: object, error: string][] = [
        [{ keep: 1 }, '/snapshot/keep needs an owner beside the operations'],
        [{ wait: 'all' }, '/snapshot/wait needs activate'],
        [
          { activate: true, wait: 'some' },
          '/snapshot/wait must be all, a number of proxies such as 12, or a share such as 90%',
        ],
        [
          { activate: true, wait: 'all', timeout: '2m' },
          '/snapshot/timeout must be a duration above 0 and of at most 60s',
        ],
        [{ base: 'live' }, '/snapshot/base must be one of staged, active'],
      ];
      for (const [snapshot, error] of faults) {
        expect(refused(await send([], { snapshot: { name: 'v', ...snapshot } }), 400)).to.equal(error);
      }
    });
  });

  describe('with prune', () => {
    beforeEach(() =>
      done([
        upsert('mine', 'a', { owner: 'shop' }),
        upsert('old', 'a', { owner: 'shop' }),
        upsert('theirs', 'a', { owner: 'pay' }),
        upsert('free', 'a'),
        { op: 'create', kind: 'groups', body: body('groups', 'g', { id: 'g', owner: 'shop' }) },
      ]),
    );

    it('deletes what the owner has and no operation names, of the kinds that they name', async () => {
      const owned = { owner: 'shop', prune: true };
      const foreseen = await dry([upsert('mine', 'a')], owned);
      expect(foreseen.json).to.have.deep.property('pruned', [{ kind: 'routes', id: 'old' }]);
      expect(foreseen.json).to.have.deep.nested.property('entities.deleted', [
        { kind: 'routes', id: 'old', name: 'old', owner: 'shop' },
      ]);
      expect(await staged()).to.have.all.keys('mine', 'old', 'theirs', 'free');
      const { pruned, results } = await done([upsert('mine', 'a')], owned);
      expect(pruned).to.deep.equal([{ kind: 'routes', id: 'old' }]);
      expect(results).to.have.nested.property('[0].changed', false);
      expect(await staged()).to.have.all.keys('mine', 'theirs', 'free');
      expect((await api.call('GET', '/groups/g')).status).to.equal(200);
      expect(await done([upsert('mine', 'a')], owned)).to.have.deep.property('pruned', []);
    });

    it('deletes of the kinds that it lists, also where no operation is', async () => {
      const { pruned } = await done([], { owner: 'shop', prune: ['routes', 'groups'] });
      expect(pruned).to.have.length(3);
      expect(await staged()).to.have.all.keys('theirs', 'free');
    });

    it('frees the names of what it deletes for what the batch creates', async () => {
      const create = { op: 'create', kind: 'routes', body: { id: 'next', ...route('old', 'next') } };
      await done([create], { owner: 'shop', prune: true });
      expect(await staged()).to.deep.equal({ old: 'next', theirs: 'a', free: 'a' });
    });
  });

  describe('with If-Match', () => {
    it('is refused with the present state when the staged configuration was changed', async () => {
      const first = await send([upsert('a', '1')]);
      const etag = String(first.headers.etag);
      expect(etag).to.match(/^"\d+"$/);
      await api.call('POST', '/snapshots', { body: { name: 'v1' } });
      expect((await dry([upsert('b', '1')], {}, { 'if-match': etag })).headers.etag).to.equal(etag);
      const second = await send([upsert('b', '1')], {}, { 'if-match': etag });
      expect(second.status, second.text).to.equal(200);
      const now = String(second.headers.etag);
      expect(now).not.to.equal(etag);
      for (const late of [
        send([upsert('c', '1')], {}, { 'if-match': etag }),
        dry([], {}, { 'if-match': etag }),
        send([], {}, { 'if-match': etag }),
      ]) {
        const answer = await late;
        expect(refused(answer, 412)).to.equal(`the staged configuration was changed: it is at ${now}`);
        expect(answer.headers.etag).to.equal(now);
      }
      expect(await staged()).to.have.all.keys('a', 'b');
      expect((await send([upsert('b', '1')], {}, { 'if-match': `"1", ${now}` })).headers.etag).to.equal(now);
      expect((await send([], {}, { 'if-match': '*' })).status).to.equal(200);
      expect((await send([], {}, { 'if-match': 'seven' })).status).to.equal(400);
    });
  });

  describe('on what is live', () => {
    beforeEach(async () => {
      await done([upsert('a', '1', { owner: 'shop' }), upsert('b', '1', { owner: 'pay' })], {
        snapshot: { name: 'first', activate: true },
      });
      // The edits of another, which are not finished.
      await api.call('PUT', '/routes/b', { body: route('b', 'unfinished', { owner: 'pay' }) });
      await api.call('POST', '/routes', { body: { id: 'c', ...route('c', 'unfinished') } });
    });

    it('publishes its operations and leaves the edits of others staged', async () => {
      const { snapshot } = await done([upsert('a', '2'), upsert('d', '2')], { owner: 'shop', ...live() });
      expect(snapshot).to.include({ owner: 'shop', active: true });
      expect(active()).to.deep.equal({ a: '2', b: '1', d: '2' });
      expect(await staged()).to.deep.equal({ a: '2', b: 'unfinished', c: 'unfinished', d: '2' });
      await done([remove('a')], { owner: 'shop', ...live() });
      expect(active()).to.deep.equal({ b: '1', d: '2' });
      expect(await staged()).to.deep.equal({ b: 'unfinished', c: 'unfinished', d: '2' });
    });

    it('holds only the operations when nothing is live', async () => {
      await api.stop();
      await start();
      await api.call('POST', '/routes', { body: { id: 'c', ...route('c', 'unfinished') } });
      await done([upsert('a', '1')], live());
      expect(active()).to.deep.equal({ a: '1' });
    });

    const conflicts: [what: string, named: string, operation: object][] = [
      ['an edit', 'route "b" of owner "pay"', upsert('b', '2')],
      ['a creation', 'route "c"', upsert('c', '2')],
      ['a deletion of an edited route', 'route "b" of owner "pay"', remove('b')],
    ];
    for (const [what, named, operation] of conflicts) {
      it(`is refused and names what it would overwrite: ${what}`, async () => {
        const before = [active(), await staged()];
        for (const answer of [
          await dry([upsert('a', '2'), operation], live()),
          await send([upsert('a', '2'), operation], { owner: 'shop', ...live() }),
        ]) {
          expect(refused(answer, 409)).to.equal(
            `/snapshot/base: edits that are not live would be overwritten: ${named}; activate or discard them first`,
          );
          expect(answer.json).not.to.have.property('operation');
        }
        expect([active(), await staged()]).to.deep.equal(before);
      });
    }

    it('is refused where a deletion that is not live would be undone', async () => {
      await api.call('DELETE', '/routes/a');
      const error = refused(await send([upsert('a', '2')], { owner: 'shop', ...live() }), 409);
      expect(error).to.contain('would be overwritten: route "a";');
      expect(await staged()).not.to.have.property('a');
      // To delete what is deleted overwrites nothing.
      await done([{ ...remove('a'), missingOk: true }], { owner: 'shop', ...live() });
      expect(active()).to.deep.equal({ b: '1' });
    });

    it('publishes an edit of another that is what the batch wants', async () => {
      await done([upsert('b', 'unfinished', { owner: 'pay' })], live());
      expect(active()).to.deep.equal({ a: '1', b: 'unfinished' });
    });

    it('replaces edits of its own owner that were never live', async () => {
      await done([upsert('a', '2'), upsert('e', '2')], { owner: 'shop', ...live({ activate: false }) });
      expect(active()).to.deep.equal({ a: '1', b: '1' });
      await done([upsert('a', '3'), upsert('e', '3')], { owner: 'shop', ...live() });
      expect(active()).to.deep.equal({ a: '3', b: '1', e: '3' });
      // By another owner it is refused.
      await done([upsert('a', '4')], { owner: 'shop', ...live({ activate: false }) });
      refused(await send([upsert('a', '5')], { owner: 'pay', ...live() }), 409);
      refused(await send([upsert('a', '5')], live()), 409);
    });

    it('prunes what the owner has live and no operation names', async () => {
      await done([upsert('x', '1'), upsert('y', '1')], { owner: 'shop', ...live() });
      await api.call('DELETE', '/routes/y');
      const { pruned } = await done([upsert('x', '1')], { owner: 'shop', prune: true, ...live() });
      expect(pruned).to.deep.equal([
        { kind: 'routes', id: 'a' },
        { kind: 'routes', id: 'y' },
      ]);
      expect(active()).to.deep.equal({ b: '1', x: '1' });
      expect(await staged()).to.deep.equal({ b: 'unfinished', c: 'unfinished', x: '1' });
    });

    it('is refused for a name that only an unfinished edit has freed', async () => {
      await api.call('PUT', '/routes/b', { body: route('renamed', '1', { owner: 'pay' }) });
      const create = { op: 'create', kind: 'routes', body: { id: 'n', ...route('b', '2') } };
      const error = refused(await send([create], { owner: 'shop', ...live() }), 409);
      expect(error).to.equal('/snapshot/base: a route named "b" is live, under another name in edits that are not');
    });

    it('keeps the captured values of secrets that others have edited', async () => {
      const secret = (value: string) => ({
        op: 'upsert',
        kind: 'secrets',
        id: 's',
        body: { id: 's', name: 's', value },
      });
      await done([secret('one'), upsert('a', '{{secret:value:s}}')], { owner: 'shop', ...live() });
      await api.call('PUT', '/secrets/s', { body: { name: 's', value: 'unfinished' } });
      await done([upsert('z', '{{secret:value:s}}')], { owner: 'shop', ...live() });
      expect(active()).to.include({ a: 'one', z: 'one' });
      const error = refused(await send([secret('two')], { owner: 'shop', ...live() }), 409);
      expect(error).to.contain('secret "s"').and.not.contain('unfinished');
      await api.call('PUT', '/secrets/s', { body: { name: 's', value: 'one' } });
      await done([secret('two')], { owner: 'shop', ...live() });
      expect(active()).to.include({ a: 'two', z: 'two' });
    });

    it('keeps captured values of the environment', async () => {
      await api.stop();
      const env: Record<string, string> = { TOKEN: 'one' };
      await start({ env });
      await done([upsert('a', '{{secret:env:TOKEN}}')], { owner: 'shop', ...live() });
      env.TOKEN = 'two';
      await done([upsert('b', '{{secret:env:TOKEN}}')], { owner: 'shop', ...live() });
      expect(active()).to.deep.equal({ a: 'one', b: 'one' });
    });
  });

  it('waits for the proxies that it names', async () => {
    const { convergence, snapshot } = await done([upsert('a', '1')], live({ wait: '0', timeout: '1s' }));
    expect(snapshot).to.include({ active: true });
    expect(convergence).to.include.keys('wanted', 'installed', 'pending');
    expect(await done([upsert('a', '1')], live())).not.to.have.property('convergence');
  });

  it('keeps as many snapshots of its owner as it says, and those that are needed', async () => {
    const names = async () =>
      ((await api.call('GET', '/snapshots')).json as { name: string }[]).map(({ name }) => name).sort();
    const capture = (name: string, owner: string, more: object = {}) =>
      done([], { owner, snapshot: { name, keep: 2, ...more } });
    await api.call('POST', '/snapshots', { body: { name: 'by hand' } });
    await capture('shop 1', 'shop', { activate: true });
    await capture('pay 1', 'pay');
    for (const at of [2, 3, 4]) await capture(`shop ${at}`, 'shop');
    expect(await names()).to.deep.equal(['by hand', 'pay 1', 'shop 1', 'shop 3', 'shop 4']);
    await capture('shop 5', 'shop', { activate: true, keep: 1 });
    expect(await names()).to.deep.equal(['by hand', 'pay 1', 'shop 5']);
  });

  it('tells in a dry run each field that would change, from what to what', async () => {
    await done([
      upsert('a', '1', { match: { pathPrefix: '/a', methods: ['GET'] } }),
      { op: 'create', kind: 'secrets', body: { id: 's', name: 's', value: 'CANARY-ONE' } },
      {
        op: 'create',
        kind: 'routes',
        body: body('routes', 'f', {
          id: 'f',
          directResponse: undefined,
          forward: {
            destinations: [
              { destinationId: 'x', weight: 1 },
              { destinationId: 'y', weight: 1 },
            ],
          },
        }),
      },
    ]);
    const answer = await dry(
      [
        upsert('a', '2', { match: { pathPrefix: '/a', methods: ['GET', 'POST'] }, labels: { env: 'test' } }),
        upsert('n', '1'),
        { op: 'update', kind: 'secrets', id: 's', body: { name: 's', value: 'CANARY-TWO' } },
        {
          op: 'update',
          kind: 'routes',
          id: 'f',
          body: body('routes', 'f', {
            directResponse: undefined,
            forward: {
              destinations: [
                { destinationId: 'y', weight: 3 },
                { destinationId: 'z', weight: 1 },
              ],
            },
          }),
        },
      ],
      { owner: 'shop' },
    );
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).not.to.contain('CANARY');
    const { entities } = answer.json as {
      entities: { created: object[]; changed: { id: string; changes: Change[] }[] };
    };
    expect(entities.created).to.deep.equal([{ kind: 'routes', id: 'n', name: 'n', owner: 'shop' }]);
    const changes = Object.fromEntries(entities.changed.map((each) => [each.id, each.changes]));
    const owner = { pointer: '/owner', from: null, to: 'shop' };
    expect(changes.a).to.have.deep.members([
      owner,
      { pointer: '/labels', from: null, to: { env: 'test' } },
      { pointer: '/match/methods', from: ['GET'], to: ['GET', 'POST'] },
      { pointer: '/directResponse/body', from: '1', to: '2' },
    ]);
    expect(changes.s).to.have.deep.members([owner, { pointer: '/value', from: '***', to: '***' }]);
    expect(changes.f).to.have.deep.members([
      owner,
      { pointer: '/forward/destinations/0', from: { destinationId: 'x', weight: 1 }, to: null },
      { pointer: '/forward/destinations/0/weight', from: 1, to: 3 },
      { pointer: '/forward/destinations/1', from: null, to: { destinationId: 'z', weight: 1 } },
    ]);
    expect(await staged()).to.have.all.keys('a', 'f');
  });
});
