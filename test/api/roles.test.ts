import { expect } from 'chai';
import { type Role, roles } from '../../src/model/api-role.ts';
import { holds } from '../../src/resources/caller.ts';
import { operations } from '../../src/resources/operation.ts';
import { ApiServer } from '../support/api-server.ts';
import { body } from '../support/resources.ts';

const apiKeys = roles.map((role) => ({ name: `key of ${role}`, key: `k-${role}`, role }));

interface Cell {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly may: readonly Role[];
  /** Completes "role … may not". */
  readonly phrase: string;
}

const readers: readonly Role[] = ['viewer', 'editor', 'admin'];
const writers: readonly Role[] = ['editor', 'admin'];
const followers: readonly Role[] = ['admin', 'proxy'];

// architecture.md §8. Reads are for readers, and changes for writers, but for these.
const others: readonly (readonly [may: readonly Role[], ids: readonly string[]])[] = [
  [readers, ['explainRequest', 'diffConfigurations']],
  [
    ['admin'],
    [
      'getSecret',
      'rotateCookieKeys',
      'createKey',
      'revokeKey',
      'setLogLevel',
      'addMember',
      'promoteMember',
      'replaceMember',
      'removeMember',
      'getBackup',
      'transferLeadership',
    ],
  ],
  [followers, ['followActivations', 'acknowledge', 'answerQuestion', 'reportLeases', 'reportTraffic']],
  [roles, ['whoAmI', 'getHealth', 'getReadiness']],
];

/** Operations between nodes, which have a credential of their own. */
const betweenNodes = ['relayWrite', 'relayLargeWrite', 'compareState', 'askAboutFleet'];

const rolesOf = ({ id, method }: { readonly id: string; readonly method: string }): readonly Role[] =>
  others.find(([, ids]) => ids.includes(id))?.[0] ?? (method === 'GET' ? readers : writers);

const samples: Readonly<Record<string, string>> = { endpoint: 'h:1', index: '1' };

/** Every operation of the document. Statuses beyond 401 and 403 are other tests' business. */
const cells = operations()
  .filter(({ id, answer }) => answer !== undefined && !betweenNodes.includes(id))
  .flatMap((operation): Cell[] => {
    const { method, summary, body: sent, answer } = operation;
    const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => samples[name] ?? 'x');
    const isStream = answer?.media?.['text/event-stream'] !== undefined;
    const cell = {
      method: isStream ? 'HEAD' : method,
      body: sent === undefined ? undefined : {},
      may: rolesOf(operation),
      phrase: summary.charAt(0).toLowerCase() + summary.slice(1),
    };
    const isAtRoot = ['/debug/config', '/metrics', '/sync/snapshot'].includes(path);
    return [{ ...cell, path }, ...(isAtRoot ? [{ ...cell, path: `/${path}` }] : [])];
  });

describe('roles', () => {
  let api: ApiServer;

  before(async () => {
    api = await ApiServer.start({ options: { apiKeys } });
  });

  after(() => api.stop());

  for (const { method, path, body: sent, may, phrase } of cells) {
    for (const role of roles) {
      const allowed = may.includes(role);
      it(`${role} ${allowed ? 'may' : 'may not'} ${method} ${path}`, async () => {
        const { status, json } = await api.call(method, path, { key: `k-${role}`, body: sent });
        if (allowed) expect(status).to.not.be.oneOf([401, 403, 500]);
        else if (method === 'HEAD') expect(status).to.equal(403);
        else expect({ status, json }).to.deep.equal({ status: 403, json: { error: `role ${role} may not ${phrase}` } });
      });
    }
  }

  it('are those of the rights that operations declare', () => {
    const wrong = operations()
      .filter(({ answer }) => answer !== undefined)
      .flatMap((operation) => {
        const { id, right } = operation;
        const may = betweenNodes.includes(id) ? 'relay' : String(rolesOf(operation).toSorted());
        const declared = right === 'relay' ? 'relay' : String(roles.filter((role) => holds(role, right)).toSorted());
        return may === declared ? [] : [`${id}: ${right}`];
      });
    expect(wrong).to.deep.equal([]);
  });

  describe('without a valid key', () => {
    const paths = [
      ...new Set([
        ...cells.map(({ path }) => path),
        '/nothing',
        '/docs/nothing',
        '/docs/%64oc.json',
        '//api/v1/',
        '/routes/%zz',
        '/sync/raft',
        '//sync/raft',
        '//healthz/',
        '/healthz',
        '/readyz',
      ]),
    ];
    for (const path of paths) {
      it(`answers 401 on ${path}`, async () => {
        const missing = await api.call('GET', path);
        expect(missing.status).to.equal(401);
        expect(missing.json).to.deep.equal({ error: 'missing authorization header' });
        const wrong = await api.call('GET', path, { key: 'k-nobody' });
        expect({ status: wrong.status, json: wrong.json }).to.deep.equal({
          status: 401,
          json: { error: 'invalid API key' },
        });
      });
    }

    it('answers with the pages of the documentation and the index, and with nothing that they call', async () => {
      for (const path of ['/docs/', '/docs/doc.json', '/docs/explorer.js', '/docs/swagger-ui.css', '//api/v1']) {
        expect(await api.call('GET', path), path).to.include({ status: 200 });
      }
      expect(await api.call('GET', '//')).to.include({ status: 302 });
      expect(await api.call('GET', '/docs')).to.include({ status: 301 });
      expect(await api.call('POST', '/docs/doc.json')).to.include({ status: 401 });
      const { json } = await api.call('GET', '/docs/doc.json');
      const reads = Object.entries((json as { paths: Record<string, { get?: object }> }).paths).filter(
        ([path, { get }]) => get !== undefined && !path.startsWith('/docs/'),
      );
      expect(reads.length).to.be.above(20);
      for (const [path] of reads) expect(await api.call('GET', path), path).to.include({ status: 401 });
    });

    it('answers 401 before it says that a method is not allowed', async () => {
      expect(await api.call('PATCH', '/routes')).to.include({ status: 401 });
      expect(await api.call('POST', '//healthz')).to.include({ status: 401 });
    });

    it('asks for the Bearer scheme', async () => {
      const { status, json, headers } = await api.call('GET', '/routes', { headers: { authorization: 'Basic eDp5' } });
      expect({ status, json }).to.deep.equal({
        status: 401,
        json: { error: 'authorization header must use Bearer scheme' },
      });
      expect(headers['www-authenticate']).to.equal('Bearer');
    });

    it('answers /healthz and /readyz, which say nothing but ok', async () => {
      for (const path of ['//healthz', '//readyz']) {
        expect((await api.call('GET', path)).json).to.deep.equal({ status: 'ok' });
      }
    });

    it('leaves the relay its own credential, which opens nothing else', async () => {
      const headers = { authorization: 'Sluice 1.2.3' };
      expect(await api.call('POST', '//sync/raft', { headers, body: {} })).to.include({ status: 503 });
      expect(await api.call('GET', '/routes', { headers })).to.include({ status: 401 });
    });
  });

  describe('and references to the node', () => {
    const withReference = (text: string) =>
      body('routes', text, { directResponse: { status: 200, body: `a ${text} b` } });

    for (const text of ['{{secret:env:HOME}}', '{{secret:file:/etc/hostname}}']) {
      it(`editors may not write ${text}, admins may`, async () => {
        const spec = withReference(text);
        const refused = await api.call('POST', '/routes', { key: 'k-editor', body: spec });
        expect(refused.status).to.equal(403);
        expect(refused.json).to.deep.equal({ error: 'role editor may not write env or file references' });
        const created = await api.call('POST', '/routes', { key: 'k-admin', body: spec });
        expect(created.status).to.equal(201);
        const path = created.headers.location?.slice('/api/v1'.length) ?? '';
        expect(await api.call('PUT', path, { key: 'k-editor', body: spec })).to.include({ status: 403 });
        await api.call('DELETE', path, { key: 'k-admin' });
      });
    }

    it('editors may write references to secrets, and say so only after the body is valid', async () => {
      const spec = withReference('{{secret:value:token}}');
      expect(await api.call('POST', '/routes', { key: 'k-editor', body: spec })).to.include({ status: 201 });
      const invalid = { ...withReference('{{secret:env:HOME}}'), match: 7 };
      expect(await api.call('POST', '/routes', { key: 'k-editor', body: invalid })).to.include({ status: 400 });
    });

    it('values of secrets are in answers about snapshots only for an admin who asks for them', async () => {
      await api.call('POST', '/secrets', { key: 'k-admin', body: body('secrets', 'token', { id: 'token' }) });
      for (const role of ['editor', 'admin'] as const) {
        const made = await api.call('POST', '/snapshots', { key: `k-${role}`, body: { name: `by ${role}` } });
        expect(made.status).to.equal(201);
        expect(made.text, role).to.contain('{{secret:value:token}}').and.not.contain('CANARY');
        const path = made.headers.location?.slice('/api/v1'.length) ?? '';
        for (const reader of ['viewer', 'editor', 'admin'] as const) {
          for (const query of ['', '?secrets=references', '?secrets=']) {
            const seen = await api.call('GET', path + query, { key: `k-${reader}` });
            expect(seen.status).to.equal(200);
            expect(seen.text, reader).to.contain('{{secret:value:token}}').and.not.contain('CANARY');
          }
        }
        for (const reader of ['viewer', 'editor'] as const) {
          const refused = await api.call('GET', `${path}?secrets=resolved`, { key: `k-${reader}` });
          expect(refused.status).to.equal(403);
          expect(refused.json).to.deep.equal({ error: `role ${reader} may not read values of secrets` });
        }
        const seen = await api.call('GET', `${path}?secrets=resolved`, { key: 'k-admin' });
        expect(seen.text).to.contain('a CANARY b').and.not.contain('{{secret:');
        expect(await api.call('GET', `${path}?secrets=yes`, { key: 'k-admin' })).to.include({ status: 400 });
        for (const [method, at] of [
          ['POST', `${path}/activate`],
          ['GET', '/snapshots'],
          ['GET', '/activations'],
          ['GET', '/debug/config'],
        ] as const) {
          const { status, text } = await api.call(method, at, { key: 'k-admin' });
          expect(status, at).to.equal(200);
          expect(text, at).to.not.contain('CANARY');
        }
      }
      const query = '/snapshots?secrets=resolved';
      const byEditor = await api.call('POST', query, { key: 'k-editor', body: { name: 'none' } });
      expect(byEditor).to.include({ status: 403 });
      const byAdmin = await api.call('POST', query, { key: 'k-admin', body: { name: 'none' } });
      expect(byAdmin.status).to.equal(201);
      expect(byAdmin.text).to.contain('a CANARY b').and.not.contain('{{secret:');
    });
  });
});
