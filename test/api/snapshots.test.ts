import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkConfig } from '../../src/proxy/config-check.ts';
import { ApiServer, type ServerSetup } from '../support/api-server.ts';
import type { Answer } from '../support/http-call.ts';
import { body } from '../support/resources.ts';

// contract.md §2.9–2.11 and architecture.md §6.11, §6.18, §6.19, §7.7: what may be captured and what may not.
describe('capture', () => {
  let api: ApiServer;
  let disk: string;

  const start = async (setup: ServerSetup = {}): Promise<void> => {
    api = await ApiServer.start(setup);
  };

  beforeEach(async () => {
    disk = await mkdtemp(join(tmpdir(), 'sluice-files-'));
  });

  afterEach(async () => {
    await api.stop();
    await rm(disk, { recursive: true });
  });

  const route = (id: string, more: object): Promise<Answer> =>
    api.call('POST', '/routes', { body: body('routes', id, { id, ...more }) });
  const answering = (id: string, text: string) => route(id, { directResponse: { status: 200, body: text } });
  const capture = (query = '', name = 's') => api.call('POST', `/snapshots${query}`, { body: { name } });

  describe('of secret references', () => {
    it('puts in what secrets, environment and files hold, verbatim and not read again', async () => {
      await start({ env: { TOKEN: 'from env {{secret:env:TOKEN}}' } });
      await writeFile(join(disk, 'f'), 'from file\n');
      await api.call('POST', '/secrets', { body: body('secrets', 's', { id: 's', value: 'from secret' }) });
      await answering('a', `1 {{secret:value:s}} 2 {{secret:file:${disk}/f}}`);
      const answer = await capture('?secrets=resolved');
      expect(answer.json).to.have.nested.property(
        'snapshot.routes[0].directResponse.body',
        '1 from secret 2 from file\n',
      );
    });

    it('is refused for a value that looks like a reference itself', async () => {
      await start({ env: { TOKEN: '{{secret:env:TOKEN}}' } });
      await answering('a', '{{secret:env:TOKEN}}');
      expect(await capture()).to.include({ status: 400 });
    });

    it('is refused with a list of all that do not resolve, and nothing is stored', async () => {
      await start({ env: { EMPTY: '' } });
      const texts = [
        'value:none',
        'env:UNSET',
        'env:EMPTY',
        `file:${disk}/none`,
        `file:${disk}`,
        'file:/dev/zero',
        'vault:x',
      ];
      for (const [index, text] of texts.entries()) await answering(`r${index}`, `{{secret:${text}}}`);
      const { status, json } = await capture();
      expect(status).to.equal(400);
      const { error } = json as { error: string };
      for (const index of texts.keys()) expect(error).to.contain(`/routes/r${index}/directResponse/body`);
      expect((await api.call('GET', '/snapshots')).text).to.equal('[]');
    });

    it('reads the environment and files only inside the fences, links followed', async () => {
      const [inside, outside] = [join(disk, 'in'), join(disk, 'out')];
      await Promise.all([writeFile(outside, 'CANARY'), writeFile(`${disk}/allowed`, 'yes')]);
      await symlink(outside, inside);
      await start({ env: { APP_A: 'a', HOME: 'CANARY' }, fence: { env: ['APP_*'], files: [join(disk, 'allowed')] } });
      for (const text of ['env:HOME', `file:${inside}`, `file:${disk}/allowed/../out`, `file:${outside}`]) {
        await api.call('DELETE', '/routes/a');
        await answering('a', `{{secret:${text}}}`);
        const answer = await capture();
        expect(answer.status, text).to.equal(400);
        expect(answer.text, text).to.not.contain('CANARY');
      }
      await api.call('DELETE', '/routes/a');
      await answering('a', '{{secret:env:APP_A}}');
      expect(await capture()).to.include({ status: 201 });
    });

    it('is 413 when the values of its files are more than the log takes at once, and nothing is stored', async () => {
      await start();
      // In JSON each of these bytes takes six.
      await writeFile(join(disk, 'f'), '\u0001'.repeat(800_000));
      await answering('a', `{{secret:file:${disk}/f}}`);
      const { status, json, text } = await capture();
      expect(status, text).to.equal(413);
      expect(json)
        .to.have.property('error')
        .that.matches(/^the snapshot with the values of its env and file references takes \d+ bytes of the log/);
      expect((await api.call('GET', '/snapshots')).json).to.deep.equal([]);
    });

    it('keeps the value of the moment: later changes do not reach a snapshot', async () => {
      await start();
      await api.call('POST', '/secrets', { body: body('secrets', 's', { id: 's', value: 'old' }) });
      await answering('a', '{{secret:value:s}}');
      const { headers } = await capture();
      const path = `${headers.location?.slice('/api/v1'.length)}?secrets=resolved`;
      const before = await api.call('GET', path);
      await api.call('PUT', '/secrets/s', { body: body('secrets', 's', { value: 'new' }) });
      await api.call('DELETE', '/routes/a');
      expect((await api.call('GET', path)).text).to.equal(before.text);
      expect(before.json).to.have.nested.property('snapshot.routes[0].directResponse.body', 'old');
    });
  });

  describe('of references between entities', () => {
    it('is refused for missing middlewares, all of them named', async () => {
      await start();
      await route('r', { middlewareIds: ['m1', 'm2'] });
      await api.call('POST', '/groups', { body: body('groups', 'g', { id: 'g', middlewareIds: ['m3'] }) });
      const { status, json } = await capture();
      expect(status).to.equal(400);
      const { error } = json as { error: string };
      for (const text of ['/routes/r/middlewareIds/0', '"m1"', '"m2"', '/groups/g/middlewareIds/0', '"m3"']) {
        expect(error).to.contain(text);
      }
    });

    it('is refused for a middleware that cannot be built with what its secret holds, which stays one', async () => {
      await start({ checkConfig: (configuration) => checkConfig(configuration, 0) });
      await api.call('POST', '/secrets', { body: body('secrets', 's', { id: 's', value: 'CANARY' }) });
      const login = { issuer: 'i', jwksInline: '{{secret:value:s}}' };
      await api.call('POST', '/middlewares', { body: { id: 'm', name: 'm', type: 'jwt', jwt: login } });
      await route('r', { middlewareIds: ['m'] });
      const refused = await capture();
      expect(refused.status).to.equal(400);
      expect(refused.text).to.contain('/middlewares/m/jwt').and.not.contain('CANARY');
      const rules = [{ cel: '{{secret:value:s}}', action: 'allow' }];
      await api.call('PUT', '/middlewares/m', { body: { name: 'm', type: 'inlineAuthz', inlineAuthz: { rules } } });
      const again = await capture();
      expect(again.status).to.equal(400);
      expect(again.text).to.contain('/middlewares/m/inlineAuthz/rules/0/cel').and.not.contain('CANARY');
    });

    it('goes on for missing destinations and routes, and warns; ?strict=true refuses', async () => {
      await start();
      const forward = { destinations: [{ destinationId: 'none' }], mirror: { destinationId: 'nil' } };
      await api.call('POST', '/routes', { body: { id: 'r', name: 'r', forward } });
      await api.call('POST', '/groups', { body: body('groups', 'g', { id: 'g', routeIds: ['gone'] }) });
      const strict = await capture('?strict=true');
      expect(strict.status).to.equal(400);
      for (const id of ['"none"', '"nil"', '"gone"'])
        expect(strict.json).to.have.property('error').that.contains(id.slice(1, -1));
      const { status, json } = await capture();
      expect(status).to.equal(201);
      const { warnings } = json as { warnings: { pointer: string; message: string }[] };
      expect(warnings.map(({ pointer }) => pointer)).to.have.members([
        '/routes/r/forward/destinations/0/destinationId',
        '/routes/r/forward/mirror/destinationId',
        '/groups/g/routeIds/0',
      ]);
      expect(await capture('?strict=maybe', 't')).to.include({ status: 400 });
    });

    it('warns of listeners on one port with ?strict=true too, for nothing dangles', async () => {
      await start();
      for (const id of ['a', 'b']) await api.call('POST', '/listeners', { body: { id, name: id, port: 80 } });
      const { status, json } = await capture('?strict=true');
      expect(status).to.equal(201);
      const { warnings } = json as { warnings: { pointer: string }[] };
      expect(warnings.map(({ pointer }) => pointer)).to.deep.equal(['/listeners/b/port']);
    });
  });

  describe('of what does not compile', () => {
    it('is refused with the problems of the check, and passes its warnings on', async () => {
      let problems = [{ pointer: '/routes/r/match', message: 'cannot be compiled' }];
      await start({ checkConfig: () => ({ problems, warnings: [{ pointer: '/x', message: 'has no effect' }] }) });
      const refused = await capture();
      expect({ status: refused.status, json: refused.json }).to.deep.equal({
        status: 400,
        json: { error: '/routes/r/match cannot be compiled' },
      });
      problems = [];
      const { json } = await capture();
      expect(json).to.deep.include({ warnings: [{ pointer: '/x', message: 'has no effect' }] });
    });

    it('checks resolved values that could not be checked when they were written', async () => {
      await start();
      await api.call('POST', '/secrets', { body: body('secrets', 's', { id: 's', value: '(CANARY' }) });
      const written = await route('r', { match: { pathRegex: '{{secret:value:s}}' } });
      expect(written.status).to.equal(201);
      const { status, text } = await capture();
      expect(status).to.equal(400);
      expect(text).to.contain('/routes/r/match/pathRegex').and.not.contain('CANARY');
    });
  });

  describe('while the configuration changes', () => {
    const edit = (count: number) => api.call('POST', '/groups', { body: body('groups', `g${count}`) });

    it('is checked again, and holds what the last check saw', async () => {
      let checks = 0;
      await start({
        checkConfig: async ({ groups }) => {
          checks += 1;
          if (checks === 1) await edit(checks);
          return { problems: [], warnings: [{ pointer: '', message: `saw ${groups.length} groups` }] };
        },
      });
      const { status, json } = await capture();
      expect({ status, checks }).to.deep.equal({ status: 201, checks: 2 });
      expect(json).to.deep.include({ warnings: [{ pointer: '', message: 'saw 1 groups' }] });
      expect(json).to.have.nested.property('snapshot.groups').with.length(1);
    });

    it('succeeds at the third try: edits wait for its check', async () => {
      let checks = 0;
      const waiting: ReturnType<typeof edit>[] = [];
      await start({
        checkConfig: async ({ groups }) => {
          checks += 1;
          if (checks <= 2) await edit(checks);
          else waiting.push(...Array.from({ length: 20 }, (_, count) => edit(100 + count)));
          // They have arrived: what was sent after them on a connection of its own is answered.
          await api.call('GET', '/groups?consistency=stale');
          return { problems: [], warnings: [{ pointer: '', message: `saw ${groups.length} groups` }] };
        },
      });
      const { status, json } = await capture();
      expect({ status, checks }).to.deep.equal({ status: 201, checks: 3 });
      expect(json).to.have.nested.property('snapshot.groups').with.length(2);
      const answers = await Promise.all(waiting);
      expect(answers.map((answer) => answer.status)).to.deep.equal(Array(20).fill(201));
    });

    it('succeeds at the third try at the latest, beside clients that edit without a pause', async () => {
      let checks = 0;
      await start({
        checkConfig: async () => {
          checks += 1;
          for (let turn = 0; turn < 5; turn += 1) await api.call('GET', '/groups/none');
          return { problems: [], warnings: [] };
        },
      });
      let ended = false;
      const editors = Array.from({ length: 4 }, async (_, editor) => {
        for (let count = 0; !ended; count += 1) {
          const { status } = await edit(editor * 1e6 + count);
          expect(status).to.equal(201);
        }
      });
      for (let round = 0; round < 5; round += 1) {
        checks = 0;
        const { status } = await api.call('POST', '/snapshots', { body: { name: `round ${round}` } });
        expect({ status, few: checks <= 3 }, `${checks} checks`).to.deep.equal({ status: 201, few: true });
      }
      ended = true;
      await Promise.all(editors);
    });

    it('gives up after five times with 503 when each check takes longer than edits wait', async () => {
      let checks = 0;
      await start({
        checkConfig: async () => {
          checks += 1;
          await edit(checks);
          return { problems: [], warnings: [] };
        },
      });
      const { status, json, headers } = await capture();
      expect({ status, json, checks }).to.deep.equal({
        status: 503,
        json: { error: 'configuration is changing' },
        checks: 5,
      });
      expect(headers).to.have.property('retry-after');
      expect((await api.call('GET', '/snapshots')).text).to.equal('[]');
    });
  });

  describe('and activation', () => {
    it('says how many workers have installed it', async () => {
      const asked: unknown[] = [];
      await start({
        installed: async (index, withinMs) => {
          asked.push([index, withinMs]);
          return { done: 1, of: 4, closed: [] };
        },
      });
      const { headers } = await capture();
      const answer = await api.call('POST', `${headers.location?.slice('/api/v1'.length)}/activate`);
      expect(answer.headers['x-sluice-installed']).to.equal('1/4');
      expect(asked).to.deep.equal([[Number(answer.headers['x-sluice-revision']), 5_000]]);
    });

    it('names the listeners that do not listen, unknown fields beside them', async () => {
      const closed = [{ name: 'wëb "x"\r\n', address: '::', port: 80, reason: 'listen EADDRINUSE: in use' }];
      const warnings = [{ pointer: '/listeners/l/tls/certificates/3', message: 'its certificate cannot be read' }];
      await start({ installed: async () => ({ done: 2, of: 2, closed, warnings }) });
      const { headers } = await capture();
      const path = `${headers.location?.slice('/api/v1'.length)}/activate`;
      const answer = await api.call('POST', path, { body: { colour: 1 } });
      expect(answer.status).to.equal(200);
      expect(answer.headers.warning).to.equal(
        '299 sluice "unknown field /colour", ' +
          '299 sluice "listener w%C3%ABb%20%22x%22%0D%0A does not listen on :::80: listen EADDRINUSE: in use", ' +
          '299 sluice "/listeners/l/tls/certificates/3 its certificate cannot be read"',
      );
    });

    it('answers in a head that clients read however many listeners do not listen', async () => {
      const closed = Array.from({ length: 300 }, (_, at) => ({
        name: `of tenant ${at}`,
        address: '0.0.0.0',
        port: 8080,
        reason: 'another listener has this port',
      }));
      const warnings = closed.map((_, at) => ({ pointer: `/listeners/${at}/tls`, message: 'cannot be read' }));
      await start({ installed: async () => ({ done: 2, of: 2, closed, warnings }) });
      const { headers } = await capture();
      const answer = await api.call('POST', `${headers.location?.slice('/api/v1'.length)}/activate`);
      expect(answer.status).to.equal(200);
      expect(answer.headers.warning)
        .to.contain('299 sluice "280 more listeners do not listen"')
        .and.contain('299 sluice "280 more warnings about listeners"');
    });

    it('publishes the configuration before it answers; edits publish nothing', async () => {
      await start();
      const seen: number[] = [];
      api.feed.subscribe(({ index }) => seen.push(index));
      await answering('a', 'x');
      const { headers } = await capture();
      expect(seen).to.deep.equal([]);
      const path = `${headers.location?.slice('/api/v1'.length)}/activate`;
      const first = await api.call('POST', path);
      const again = await api.call('POST', path);
      expect(seen).to.deep.equal([first, again].map((answer) => Number(answer.headers['x-sluice-revision'])));
    });
  });
});
