import { expect } from 'chai';
import { ApiServer, type ServerSetup } from '../support/api-server.ts';
import type { Answer, CallOptions } from '../support/http-call.ts';
import { body } from '../support/resources.ts';

interface BatchAnswer {
  readonly index: number;
  readonly results: readonly Record<string, unknown>[];
  readonly snapshot?: { id: string; name: string; active: boolean };
  readonly warnings: readonly { pointer: string; message: string }[];
}

interface BatchFaults {
  readonly error: string;
  /** The first that fails. */
  readonly operation: number;
}

interface DryAnswer {
  readonly warnings: readonly { pointer: string; message: string }[];
  readonly results: readonly Record<string, unknown>[];
  readonly problems: readonly { pointer: string; message: string }[];
}

const group = (name: string, more: object = {}) => body('groups', name, more);
const create = (name: string, more: object = {}) => ({
  op: 'create',
  kind: 'groups',
  body: { id: name, ...group(name, more) },
});
const upsert = (name: string, more: object = {}) => ({
  op: 'upsert',
  kind: 'groups',
  by: 'name',
  body: group(name, more),
});

// batch.md, rule by rule.
describe('batch', () => {
  let api: ApiServer;

  const start = async (setup: ServerSetup = {}): Promise<void> => {
    api = await ApiServer.start(setup);
  };
  const batch = (operations: readonly unknown[], more: object = {}, options: CallOptions = {}): Promise<Answer> =>
    api.call('POST', '/batch', { ...options, body: { operations, ...more } });
  const accepted = async (...parameters: Parameters<typeof batch>): Promise<BatchAnswer> => {
    const answer = await batch(...parameters);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json as BatchAnswer;
  };
  const faulty = async (operations: readonly unknown[]): Promise<BatchFaults> => {
    const answer = await batch(operations);
    expect(answer).to.include({ status: 400 });
    return answer.json as BatchFaults;
  };
  const dry = async (operations: readonly unknown[], more: object = {}): Promise<DryAnswer> => {
    const answer = await api.call('POST', '/batch?dryRun=true', { body: { operations, ...more } });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json as DryAnswer;
  };
  const names = async (): Promise<string[]> =>
    ((await api.call('GET', '/groups')).json as { name: string }[]).map(({ name }) => name).sort();

  afterEach(() => api.stop());

  describe('of operations', () => {
    beforeEach(() => start());

    it('takes effect at one revision, with an outcome for each', async () => {
      await accepted([create('gone'), create('kept'), create('old')]);
      const answer = await accepted([
        create('new'),
        { op: 'update', kind: 'groups', id: 'old', body: group('old', { pathPrefix: '/x' }) },
        upsert('kept'),
        upsert('made', { pathPrefix: '/m' }),
        { op: 'delete', kind: 'groups', by: 'name', name: 'gone' },
        { op: 'delete', kind: 'groups', id: 'never', missingOk: true },
      ]);
      const etag = `"${answer.index}"`;
      const made = answer.results[3]?.id;
      expect(made).to.match(/^[0-9a-f-]{36}$/);
      expect(answer.results).to.deep.equal([
        { op: 'create', kind: 'groups', id: 'new', etag, changed: true },
        { op: 'update', kind: 'groups', id: 'old', etag, changed: true },
        { op: 'upsert', kind: 'groups', id: 'kept', etag: `"${answer.index - 1}"`, changed: false },
        { op: 'upsert', kind: 'groups', id: made, etag, changed: true },
        { op: 'delete', kind: 'groups', id: 'gone', etag: null, changed: true },
        { op: 'delete', kind: 'groups', id: 'never', etag: null, changed: false },
      ]);
      expect(answer.warnings).to.deep.equal([]);
      const stored = await api.call('GET', `/groups/${made}`);
      expect(stored.headers.etag).to.equal(etag);
      expect(stored.json).to.deep.equal({ id: made, ...group('made', { pathPrefix: '/m' }), routeIds: [] });
    });

    it('lets an operation use what the ones before it left', async () => {
      await accepted([create('a')]);
      const renamed = { op: 'update', kind: 'groups', id: 'a', body: group('b') };
      await accepted([renamed, { op: 'create', kind: 'groups', body: { id: 'c', ...group('a') } }]);
      expect(await names()).to.deep.equal(['a', 'b']);
    });

    describe('that exchange names', () => {
      const stored = async (): Promise<Record<string, string>> => {
        const groups = (await api.call('GET', '/groups')).json as { id: string; name: string }[];
        return Object.fromEntries(groups.map(({ id, name }) => [id, name]));
      };
      const rename = (id: string, name: string, op = 'update') => ({ op, kind: 'groups', id, body: group(name) });
      const remove = { op: 'delete', kind: 'groups', id: 'a' };
      const removeByName = { op: 'delete', kind: 'groups', by: 'name', name: 'a' };
      const successor = { op: 'create', kind: 'groups', body: { id: 'd', ...group('a') } };
      const successorByName = { ...successor, by: 'name' };

      beforeEach(() => accepted([create('a'), create('b'), create('c')]));

      const exchanges: [what: string, operations: object[], after: Record<string, string>][] = [
        ['two entities swap their names', [rename('a', 'b'), rename('b', 'a')], { a: 'b', b: 'a', c: 'c' }],
        ['upserts swap names', [rename('a', 'b', 'upsert'), rename('b', 'a', 'upsert')], { a: 'b', b: 'a', c: 'c' }],
        [
          'three entities rotate their names',
          [rename('a', 'b'), rename('b', 'c'), rename('c', 'a')],
          { a: 'b', b: 'c', c: 'a' },
        ],
        [
          'three entities rotate their names the other way',
          [rename('a', 'c'), rename('b', 'a'), rename('c', 'b')],
          { a: 'c', b: 'a', c: 'b' },
        ],
        ['a create precedes the delete of the former holder', [successor, remove], { b: 'b', c: 'c', d: 'a' }],
        ['a delete precedes the create of the same name', [remove, successor], { b: 'b', c: 'c', d: 'a' }],
        ['a create precedes the delete by name', [successor, removeByName], { b: 'b', c: 'c', d: 'a' }],
        ['a delete by name precedes the create', [removeByName, successorByName], { b: 'b', c: 'c', d: 'a' }],
        ['a create by name precedes the delete by name', [successorByName, removeByName], { b: 'b', c: 'c', d: 'a' }],
        ['an entity takes the name of a deleted one', [rename('b', 'a'), remove], { b: 'a', c: 'c' }],
      ];
      for (const [what, operations, after] of exchanges) {
        it(`takes effect when ${what}`, async () => {
          const foreseen = await dry(operations);
          expect(foreseen.results).to.have.length(operations.length);
          await accepted(operations);
          expect(await stored()).to.deep.equal(after);
          for (const [id, name] of Object.entries(after)) {
            await accepted([{ op: 'upsert', kind: 'groups', by: 'name', body: group(name, { pathPrefix: '/named' }) }]);
            expect((await api.call('GET', `/groups/${id}`)).json).to.include({ name, pathPrefix: '/named' });
          }
        });
      }

      it('names the operation that took a name which its former holder keeps', async () => {
        const answer = await batch([create('first'), rename('b', 'a'), rename('c', 'b')]);
        expect(answer).to.include({ status: 409 });
        expect(answer.json).to.deep.include({ operation: 1 });
        expect((answer.json as BatchFaults).error).to.equal('/operations/1: a group named "a" exists already');
        expect(await stored()).to.deep.equal({ a: 'a', b: 'b', c: 'c' });
        const twice = await batch([rename('b', 'x'), rename('c', 'x')]);
        expect(twice.json).to.deep.include({ operation: 1 });
        expect(twice).to.include({ status: 409 });
      });

      it('keeps swapped names apart from the names of other kinds', async () => {
        const secret = (name: string) => ({ op: 'create', kind: 'secrets', body: { name, value: 'v' } });
        await accepted([rename('a', 'b'), secret('b'), rename('b', 'a'), secret('a')]);
        expect(await stored()).to.deep.equal({ a: 'b', b: 'a', c: 'c' });
      });
    });

    const refusals: [what: string, status: number, operation: object][] = [
      ['a name that is taken', 409, create('taken', {})],
      ['an update of nothing', 404, { op: 'update', kind: 'groups', id: 'none', body: group('x') }],
      ['an update by name of nothing', 404, { op: 'update', kind: 'groups', by: 'name', body: group('x') }],
      ['a delete of nothing', 404, { op: 'delete', kind: 'groups', id: 'none' }],
      ['another revision', 412, { op: 'delete', kind: 'groups', id: 'taken', ifMatch: '"999"' }],
      ['a revision of what does not exist', 412, { ...upsert('none'), ifMatch: '*' }],
      ['the same entity twice', 400, { op: 'update', kind: 'groups', by: 'name', body: group('first') }],
    ];
    for (const [what, status, operation] of refusals) {
      it(`stores nothing and names the operation for ${what}`, async () => {
        await accepted([create('taken')]);
        const answer = await batch([create('first'), operation, create('last')]);
        expect(answer.status, answer.text).to.equal(status);
        expect(answer.json).to.have.property('operation', 1);
        expect((answer.json as { error: string }).error).to.match(/^\/operations\/1: /);
        expect(await names()).to.deep.equal(['taken']);
      });
    }

    it('names every fault of every operation with its place', async () => {
      const { error, operation } = await faulty([
        { op: 'create', kind: 'listeners', body: { name: '', port: 70_000 } },
        { op: 'create', kind: 'groups', body: group('fine') },
        { op: 'move', kind: 'groups' },
        'nothing',
        { op: 'upsert', kind: 'groups', body: group('no id') },
        { op: 'delete', kind: 'groups', by: 'name' },
        { op: 'delete', kind: 'groups', id: 'x', ifMatch: '17' },
      ]);
      expect(operation).to.equal(0);
      for (const pointer of ['0/body/name', '0/body/port', '2/op', '3', '4/id', '5/name', '6/ifMatch']) {
        expect(error).to.contain(`/operations/${pointer} `);
      }
      expect(await names()).to.deep.equal([]);
    });

    it('refuses a delete that names its entity in two ways, and deletes nothing', async () => {
      const { error, operation } = await faulty([
        { op: 'create', kind: 'groups', body: group('first') },
        { op: 'delete', kind: 'groups', by: 'name', name: 'a', id: 'b' },
        { op: 'delete', kind: 'groups', id: 'c', name: 'd', missingOk: true },
        { op: 'delete', kind: 'groups', by: 'name', name: 'e', id: '', missingOk: true },
      ]);
      expect(operation).to.equal(1);
      expect(error).to.contain('/operations/1/id is not for a delete by name');
      expect(error).to.contain('/operations/2/name is not for a delete by id');
      expect(error).not.to.contain('/operations/3');
      expect(await names()).to.deep.equal([]);
    });

    it('refuses a write whose name is not the one in its body, and writes neither', async () => {
      await accepted([create('a'), create('b')]);
      const { error, operation } = await faulty([
        { op: 'update', kind: 'groups', by: 'name', name: 'a', body: group('b') },
        { op: 'upsert', kind: 'groups', by: 'name', name: 7, body: group('c') },
        { op: 'upsert', kind: 'groups', by: 'name', name: 'd', body: group('d') },
      ]);
      expect(operation).to.equal(0);
      expect(error).to.contain('/operations/0/name is not the name in the body');
      expect(error).to.contain('/operations/1/name is not the name in the body');
      expect(error).not.to.contain('/operations/2');
      expect(await names()).to.deep.equal(['a', 'b']);
      await accepted([{ op: 'upsert', kind: 'groups', by: 'name', name: 'd', body: group('d') }]);
      expect(await names()).to.deep.equal(['a', 'b', 'd']);
    });

    it('refuses an update by name that comes with an id, and updates neither', async () => {
      await accepted([create('a'), create('b')]);
      const { error, operation } = await faulty([
        { op: 'upsert', kind: 'groups', by: 'name', id: 'c', body: group('c') },
        { op: 'update', kind: 'groups', by: 'name', id: 'a', body: group('b', { pathPrefix: '/b' }) },
      ]);
      expect(operation).to.equal(1);
      expect(error).to.equal('/operations/1/id is not for an update by name');
      const { results } = await accepted([
        { op: 'update', kind: 'groups', by: 'name', id: '', body: { ...group('b'), id: 'read.elsewhere' } },
      ]);
      expect(results[0]).to.include({ id: 'b' });
    });

    it('looks at missingOk beside every operation, and names it where it means nothing', async () => {
      await accepted([create('a')]);
      const update = { op: 'update', kind: 'groups', id: 'a', body: group('a') };
      for (const missingOk of ['true', 1, '']) {
        const { error } = await faulty([{ ...update, missingOk }]);
        expect(error).to.equal('/operations/0/missingOk must be true or false');
      }
      for (const missingOk of [false, null]) {
        expect((await batch([{ ...update, missingOk }])).headers).to.not.have.property('warning');
      }
      const warned = await batch([{ ...update, missingOk: true }]);
      expect(warned).to.include({ status: 200 });
      expect(warned.headers.warning).to.equal('299 sluice "unknown field /operations/0/missingOk"');
      expect(await batch([{ ...update, id: 'none', missingOk: true }])).to.include({ status: 404 });
    });

    it('is refused for a body that is no batch', async () => {
      for (const text of ['', '[]', 'null', '{}', '{"operations":{}}', '{"operations":[{]}', '{"operations":[,]}']) {
        const answer = await api.call('POST', '/batch', { body: text });
        expect(answer.status, text).to.equal(400);
      }
      const twice = await api.call('POST', '/batch', { body: '{"operations":[],"operations":[]}' });
      expect(twice).to.include({ status: 400 });
    });

    it('that is empty is refused under a key that stands for another', async () => {
      const headers = { 'idempotency-key': 'of-a-batch' };
      const operations = [{ op: 'create', kind: 'groups', body: { name: 'under a key' } }];
      expect((await api.call('POST', '/batch', { headers, body: { operations } })).status).to.equal(200);
      const empty = await api.call('POST', '/batch', { headers, body: { operations: [] } });
      expect(empty.status).to.equal(422);
      const unfit = await api.call('POST', '/batch', {
        headers: { 'idempotency-key': 'a b' },
        body: { operations: [] },
      });
      expect(unfit.status).to.equal(400);
    });

    it('that is empty writes nothing', async () => {
      const before = (await api.call('GET', '/groups')).headers['x-sluice-revision'];
      const answer = await accepted([]);
      expect(answer).to.deep.equal({ index: Number(before), results: [], warnings: [] });
      expect((await api.call('GET', '/groups')).headers['x-sluice-revision']).to.equal(before);
    });

    it('is refused beyond its limits, which the error names', async () => {
      const many = await batch(Array.from({ length: 20_001 }, () => 1));
      expect(many).to.include({ status: 413 });
      expect(many.json).to.deep.equal({ error: 'a batch takes at most 20000 operations' });
      const large = await api.call('POST', '/batch', { body: ' '.repeat(32 * 1024 * 1024 + 1) });
      expect(large).to.include({ status: 413 });
      expect(large.json).to.deep.equal({ error: 'body is larger than 32 MiB' });
    });

    it('answers a repetition under its key as the first time', async () => {
      const options = { headers: { 'idempotency-key': 'k' } };
      const first = await accepted([upsert('a'), upsert('b')], {}, options);
      await api.call('DELETE', `/groups/${String(first.results[0]?.id)}`);
      expect(await accepted([upsert('a'), upsert('b')], {}, options)).to.deep.equal(first);
      expect(await batch([upsert('c')], {}, options)).to.include({ status: 422 });
    });

    it('names unknown fields, or refuses them', async () => {
      const strange = [{ ...create('a', { colour: 'red' }), colour: 'blue' }];
      const { headers } = await batch(strange, { extra: 1 });
      expect(headers.warning).to.contain('/operations/0/body/colour').and.contain('/operations/0/colour');
      expect(headers.warning).to.contain('/extra');
      const strict = await api.call('POST', '/batch?fieldValidation=strict', { body: { operations: strange } });
      expect(strict).to.include({ status: 400 });
      expect(JSON.parse(strict.text)).to.include({ operation: 0 });
    });
  });

  describe('with a snapshot', () => {
    beforeEach(() =>
      start({
        checkConfig: ({ routes }) => ({
          problems: routes.some(({ name }) => name === 'bad')
            ? [{ pointer: '/routes/bad/match', message: 'cannot be compiled' }]
            : [],
          warnings: [],
        }),
      }),
    );

    const answering = (name: string, text = name) => ({
      op: 'upsert',
      kind: 'routes',
      by: 'name',
      body: { name, directResponse: { status: 200, body: text } },
    });

    it('captures what the operations leave, and activates it at the same index', async () => {
      const answer = await accepted([answering('a')], { snapshot: { name: 'v1', activate: true } });
      expect(answer.snapshot).to.include({ name: 'v1', active: true });
      const { json } = await api.call('GET', `/snapshots/${answer.snapshot?.id}`);
      expect(json).to.have.nested.property('snapshot.routes[0].name', 'a');
      expect(api.feed.current).to.include({ index: answer.index, name: 'v1' });
    });

    it('is refused as a whole when the snapshot could not be served', async () => {
      const answer = await batch([answering('bad')], { snapshot: { name: 'v1' } });
      expect(answer).to.include({ status: 400 });
      expect(answer.json).to.deep.equal({ error: '/snapshot/routes/bad/match cannot be compiled' });
      expect((await api.call('GET', '/routes')).text).to.equal('[]');
    });

    it('is refused as a whole when its name is taken or no name', async () => {
      await accepted([], { snapshot: { name: 'v1' } });
      expect(await batch([answering('a')], { snapshot: { name: 'v1' } })).to.include({ status: 409 });
      const nameless = await batch([answering('a')], { snapshot: { activate: 'yes' } });
      expect(nameless.json).to.deep.equal({
        error: '/snapshot/activate must be true or false; /snapshot/name is required',
      });
      expect((await api.call('GET', '/routes')).text).to.equal('[]');
    });

    it('warns of what dangles, and refuses it when it is to be strict', async () => {
      const lost = { op: 'create', kind: 'groups', body: { id: 'g', ...group('g'), routeIds: ['none'] } };
      const strict = await batch([lost], { snapshot: { name: 'v1', strict: true } });
      expect(strict).to.include({ status: 400 });
      const { warnings } = await accepted([lost], { snapshot: { name: 'v1' } });
      expect(warnings.map(({ pointer }) => pointer)).to.deep.equal(['/groups/g/routeIds/0']);
      const { json } = await api.call('POST', '/snapshots', { body: { name: 'v2' } });
      expect(json).to.have.deep.property('warnings', warnings);
    });

    it('answers a repetition under its key although the configuration would not pass any more', async () => {
      const options = { headers: { 'idempotency-key': 'k' } };
      const first = await accepted([answering('a')], { snapshot: { name: 'v1', activate: true } }, options);
      await api.call('POST', '/routes', { body: answering('bad').body });
      const again = await accepted([answering('a')], { snapshot: { name: 'v1', activate: true } }, options);
      expect(again).to.deep.equal(first);
    });

    it('puts in what secrets of the same batch hold', async () => {
      const secret = { op: 'create', kind: 'secrets', body: { id: 's', name: 's', value: 'from secret' } };
      const answer = await accepted([answering('a', '{{secret:value:s}}'), secret], { snapshot: { name: 'v1' } });
      const { json } = await api.call('GET', `/snapshots/${answer.snapshot?.id}?secrets=resolved`);
      expect(json).to.have.nested.property('snapshot.routes[0].directResponse.body', 'from secret');
    });
  });

  describe('with ?dryRun=true', () => {
    beforeEach(() => start());

    it('answers with the outcomes and stores nothing', async () => {
      await accepted([create('same'), create('other'), create('gone')]);
      const { results, problems } = await dry([
        create('new'),
        { op: 'upsert', kind: 'groups', id: 'same', body: group('same') },
        { op: 'upsert', kind: 'groups', id: 'other', body: group('other', { pathPrefix: '/x' }) },
        { op: 'delete', kind: 'groups', id: 'gone' },
      ]);
      expect(results).to.deep.equal([
        { action: 'create', kind: 'groups', id: 'new', changes: [] },
        { action: 'none', kind: 'groups', id: 'same', changes: [] },
        { action: 'update', kind: 'groups', id: 'other', changes: ['/pathPrefix'] },
        { action: 'delete', kind: 'groups', id: 'gone', changes: [] },
      ]);
      expect(problems).to.deep.equal([]);
      expect(await names()).to.deep.equal(['gone', 'other', 'same']);
    });

    it('answers with the problems of its snapshot', async () => {
      const dangling = {
        op: 'create',
        kind: 'routes',
        body: { ...body('routes', 'r', { id: 'r' }), middlewareIds: ['m'] },
      };
      const { problems } = await dry([dangling]);
      expect(problems.map(({ pointer }) => pointer)).to.deep.equal(['/snapshot/routes/r/middlewareIds/0']);
    });

    it('warns as the real one does', async () => {
      const lost = { op: 'create', kind: 'groups', body: { id: 'g', ...group('g'), routeIds: ['none'] } };
      const snapshot = { name: 'v1' };
      const rehearsed = await dry([lost], { snapshot });
      const real = await accepted([lost], { snapshot });
      expect(real.warnings).to.have.length(1);
      expect(rehearsed.warnings).to.deep.equal(real.warnings);
    });

    it('is refused as the real one would be', async () => {
      const answer = await api.call('POST', '/batch?dryRun=true', {
        body: { operations: [{ op: 'delete', kind: 'groups', id: 'none' }] },
      });
      expect(answer).to.include({ status: 404 });
      expect(answer.json).to.have.property('operation', 0);
    });

    // The rehearsal answered 200 without a problem, and the batch itself 409 right after it.
    it('is refused for the name of its snapshot as the real one is', async () => {
      await accepted([], { snapshot: { name: 'v1' } });
      const wanted = { operations: [create('a')], snapshot: { name: 'v1', activate: true } };
      const rehearsed = await api.call('POST', '/batch?dryRun=true', { body: wanted });
      const real = await api.call('POST', '/batch', { body: wanted });
      const error = '/snapshot/name: a snapshot named "v1" exists already';
      expect([rehearsed.status, rehearsed.json]).to.deep.equal([409, { error }]);
      expect([real.status, real.json]).to.deep.equal([409, { error }]);
    });
  });

  it('is refused as a whole without permission for one operation', async () => {
    const apiKeys = [{ name: 'e', key: 'k-e', role: 'editor' as const }];
    await start({ options: { apiKeys }, env: { TOKEN: 't' } });
    const headers = { authorization: 'Bearer k-e' };
    const secret = { op: 'create', kind: 'secrets', body: { name: 's', value: '{{secret:env:TOKEN}}' } };
    const answer = await batch([create('a'), secret], {}, { headers });
    expect(answer).to.include({ status: 403 });
    expect(answer.json).to.have.property('operation', 1);
    expect((await api.call('GET', '/groups', { headers })).text).to.equal('[]');
  });

  it('is sealed on disk when encryption is on', async () => {
    await start({ encryptionKey: Buffer.alloc(32, 3) });
    const secret = { op: 'create', kind: 'secrets', body: { id: 's', name: 's', value: 'CANARY' } };
    await accepted([secret], { snapshot: { name: 'v1', activate: true } });
    expect((await api.call('GET', '/secrets/s')).json).to.have.property('value', 'CANARY');
  });
});
