import { expect } from 'chai';
import { type Role, roles } from '../../src/model/api-role.ts';
import { holds } from '../../src/resources/caller.ts';
import { declarationOf } from '../../src/resources/operation.ts';
import { ApiServer } from '../support/api-server.ts';
import { body, editableKinds } from '../support/resources.ts';

const apiKeys = roles.map((role) => ({ name: `key of ${role}`, key: `k-${role}`, role }));

interface Cell {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly may: readonly Role[];
  /** Completes "role … may not". */
  readonly phrase: string;
}

const readers: readonly Role[] = ['viewer', 'editor', 'admin'];
const writers: readonly Role[] = ['editor', 'admin'];
const followers: readonly Role[] = ['admin', 'proxy'];

// architecture.md §8, cell by cell. Statuses beyond 401 and 403 are other tests' business.
const cells: readonly Cell[] = [
  ...editableKinds.flatMap((kind): Cell[] => {
    const noun = kind.slice(0, -1);
    return [
      { method: 'GET', path: `/${kind}`, may: readers, phrase: `list ${kind}` },
      { method: 'POST', path: `/${kind}`, body: {}, may: writers, phrase: `create a ${noun}` },
      {
        method: 'GET',
        path: `/${kind}/x`,
        may: kind === 'secrets' ? ['admin'] : readers,
        phrase: kind === 'secrets' ? 'read the value of a secret' : `read a ${noun}`,
      },
      { method: 'PUT', path: `/${kind}/x`, body: {}, may: writers, phrase: `update a ${noun}` },
      { method: 'DELETE', path: `/${kind}/x`, may: writers, phrase: `delete a ${noun}` },
    ];
  }),
  { method: 'GET', path: '/snapshots', may: readers, phrase: 'list snapshots' },
  { method: 'POST', path: '/snapshots', body: {}, may: writers, phrase: 'create a snapshot' },
  { method: 'GET', path: '/snapshots/x', may: readers, phrase: 'read a snapshot' },
  { method: 'DELETE', path: '/snapshots/x', may: writers, phrase: 'delete a snapshot' },
  { method: 'POST', path: '/snapshots/x/activate', may: writers, phrase: 'activate a snapshot' },
  { method: 'POST', path: '/snapshots/x/confirm', may: writers, phrase: 'confirm an activation' },
  { method: 'POST', path: '/snapshots/x/rollout', may: writers, phrase: 'start a rollout' },
  { method: 'GET', path: '/rollouts', may: readers, phrase: 'list rollouts' },
  { method: 'GET', path: '/rollouts/x', may: readers, phrase: 'read a rollout' },
  ...['pause', 'resume', 'abort', 'promote'].map(
    (action): Cell => ({ method: 'POST', path: `/rollouts/x/${action}`, may: writers, phrase: `${action} a rollout` }),
  ),
  { method: 'GET', path: '/activations', may: readers, phrase: 'list activations' },
  { method: 'POST', path: '/rollback', may: writers, phrase: 'roll back to what was active before' },
  { method: 'POST', path: '/batch', body: {}, may: writers, phrase: 'write many resources at once' },
  { method: 'GET', path: '/staged/diff', may: readers, phrase: 'compare what is staged with what is live' },
  { method: 'POST', path: '/staged/discard', body: {}, may: writers, phrase: 'discard unfinished edits' },
  { method: 'GET', path: '/whoami', may: roles, phrase: 'read the own name and role' },
  { method: 'GET', path: '/debug/config', may: readers, phrase: 'read the live and the staged configuration' },
  { method: 'GET', path: '//debug/config', may: readers, phrase: 'read the live and the staged configuration' },
  { method: 'GET', path: '//metrics', may: readers, phrase: 'read the metrics' },
  { method: 'GET', path: '/requests', may: readers, phrase: 'list recent requests' },
  { method: 'GET', path: '/mirrors/mismatches', may: readers, phrase: 'list mismatches of mirrors' },
  { method: 'GET', path: '/cookie-keys', may: readers, phrase: 'list the keys of signed session cookies' },
  { method: 'POST', path: '/cookie-keys/rotate', may: ['admin'], phrase: 'make another key of signed session cookies' },
  { method: 'GET', path: '/log-level', may: readers, phrase: 'read the log levels' },
  { method: 'PUT', path: '/log-level', body: {}, may: ['admin'], phrase: 'set a log level' },
  { method: 'HEAD', path: '/requests/stream', may: readers, phrase: 'follow requests live' },
  { method: 'HEAD', path: '/events', may: readers, phrase: 'follow changes of the state' },
  { method: 'GET', path: '/certificates', may: readers, phrase: 'list certificates and their ends' },
  { method: 'GET', path: '/disks', may: readers, phrase: 'list the disks of the nodes' },
  { method: 'GET', path: '/endpoints', may: readers, phrase: 'list endpoints by their state' },
  { method: 'GET', path: '/destinations/x/endpoints', may: readers, phrase: 'read the endpoints of a destination' },
  { method: 'POST', path: '/destinations/x/endpoints/h:1/drain', may: writers, phrase: 'drain an endpoint' },
  {
    method: 'DELETE',
    path: '/destinations/x/endpoints/h:1/drain',
    may: writers,
    phrase: 'undo the drain of an endpoint',
  },
  { method: 'GET', path: '/stats', may: readers, phrase: 'read the traffic of the fleet' },
  { method: 'GET', path: '/cluster', may: readers, phrase: 'read the cluster' },
  { method: 'POST', path: '/cluster/members', body: {}, may: ['admin'], phrase: 'add a member' },
  { method: 'POST', path: '/cluster/members/x/promote', may: ['admin'], phrase: 'promote a member' },
  { method: 'POST', path: '/cluster/members/x/replace', body: {}, may: ['admin'], phrase: 'replace a member' },
  { method: 'DELETE', path: '/cluster/members/x', may: ['admin'], phrase: 'remove a member' },
  { method: 'GET', path: '/cluster/backup', may: ['admin'], phrase: 'back up the cluster' },
  { method: 'POST', path: '/cluster/transfer', may: ['admin'], phrase: 'transfer leadership' },
  { method: 'GET', path: '/activations/1/diff', may: readers, phrase: 'compare an activation with the one before it' },
  { method: 'POST', path: '/batch/large', body: {}, may: writers, phrase: 'write very many resources at once' },
  { method: 'POST', path: '/diff', body: {}, may: readers, phrase: 'compare two configurations' },
  { method: 'POST', path: '/explain', body: {}, may: readers, phrase: 'explain which route serves a request' },
  { method: 'GET', path: '/findings', may: readers, phrase: 'list what is wrong with a configuration' },
  { method: 'GET', path: '/fleet', may: readers, phrase: 'list the proxies' },
  { method: 'GET', path: '/fleet/x', may: readers, phrase: 'read a proxy' },
  { method: 'DELETE', path: '/fleet/x', may: writers, phrase: 'forget a proxy' },
  { method: 'GET', path: '/metrics', may: readers, phrase: 'read the metrics' },
  { method: 'POST', path: '/sync/ack', body: {}, may: followers, phrase: 'acknowledge a configuration' },
  { method: 'POST', path: '/sync/answer', body: {}, may: followers, phrase: 'answer a question' },
  { method: 'POST', path: '/sync/leases', body: {}, may: followers, phrase: 'report leases of rate limits' },
  { method: 'POST', path: '/sync/report', body: {}, may: followers, phrase: 'report traffic' },
  { method: 'HEAD', path: '/sync/snapshot', may: followers, phrase: 'follow activations' },
  { method: 'HEAD', path: '//sync/snapshot', may: followers, phrase: 'follow activations' },
];

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

  it('have a row for every operation of the document, with the right that it declares', async () => {
    const { json } = await api.call('GET', '/docs/doc.json');
    const paths = (json as { paths: Record<string, Record<string, { operationId: string }>> }).paths;
    const wrong = Object.entries(paths).flatMap(([path, operations]) => {
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      return Object.entries(operations).flatMap(([method, { operationId }]) => {
        const right = declarationOf(operationId)?.right ?? 'none';
        if (right === 'none' || right === 'relay') return [];
        const may = roles.filter((role) => holds(role, right));
        const row = cells.find(
          (cell) =>
            pattern.test(cell.path) && [method, method === 'get' ? 'head' : ''].includes(cell.method.toLowerCase()),
        );
        return row !== undefined && may.every((role) => row.may.includes(role)) && row.may.length === may.length
          ? []
          : [`${method} ${path}: ${right}`];
      });
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
