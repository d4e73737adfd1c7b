import { expect } from 'chai';
import type { RequestExplanation } from '../../src/model/answers/explanation.ts';
import { ApiServer } from '../support/api-server.ts';

const path = '/explain';

describe('POST /explain', () => {
  let server: ApiServer;
  let snapshot: string;

  const create = async (kind: string, body: object): Promise<Record<string, unknown>> => {
    const { status, json, text } = await server.call('POST', `/${kind}`, { body, key: 'root' });
    expect(status, text).to.equal(201);
    return json as Record<string, unknown>;
  };
  const ask = async (body: object, key = 'root') => {
    const answer = await server.call('POST', path, { body, key });
    return { ...answer, json: answer.json as RequestExplanation & { snapshot: string; notes: string[] } };
  };

  before(async () => {
    const apiKeys = [
      { name: 'root', key: 'root', role: 'admin' as const },
      { name: 'eye', key: 'eye', role: 'viewer' as const },
      { name: 'edge', key: 'edge', role: 'proxy' as const },
    ];
    server = await ApiServer.start({ options: { apiKeys } });
    await create('destinations', { id: 'd', name: 'd', host: 'backend.test', port: 80 });
    await create('secrets', { id: 's', name: 's', value: 'CANARY-51' });
    await create('routes', {
      id: 'shop',
      name: 'shop',
      match: { pathPrefix: '/shop', methods: ['GET'], headers: [{ name: 'x-tenant', value: 'a' }] },
      forward: { destinations: [{ destinationId: 'd' }], rewrite: { path: '/internal' } },
    });
    await create('routes', {
      id: 'old',
      name: 'old',
      match: { pathPrefix: '/' },
      redirect: { path: '/{{secret:value:s}}' },
    });
    snapshot = String((await create('snapshots', { name: 'v1' })).id);
    await server.call('POST', `/snapshots/${snapshot}/activate`, { key: 'root' });
    await create('routes', { id: 'new', name: 'new', match: { path: '/shop/new' }, directResponse: { status: 204 } });
  });

  after(() => server.stop());

  it('names the winner and what the upstream would see', async () => {
    const { json } = await ask({ url: '/shop/%7eme?x=1', headers: { host: 'EXAMPLE.com:8080', 'X-Tenant': 'a' } });
    expect(json.winner).to.deep.equal({ route: { id: 'shop', name: 'shop' } });
    expect(json.request).to.include({ path: '/shop/~me', host: 'example.com' });
    expect(json.outcome).to.deep.equal({
      action: 'forward',
      destinations: [{ id: 'd', weight: 0, exists: true }],
      upstream: { method: 'GET', target: '/internal/~me?x=1', host: 'EXAMPLE.com:8080' },
    });
    expect(json.snapshot).to.equal(snapshot);
  });

  it('names the matcher that failed of each other candidate', async () => {
    const { json } = await ask({ url: '/shop', headers: { 'x-tenant': 'b' } });
    expect(json.winner?.route.id).to.equal('old');
    expect(json.candidates.map(({ route, matches }) => [route.id, matches])).to.deep.equal([
      ['shop', false],
      ['old', true],
    ]);
    expect(json.candidates[0]?.failed).to.deep.equal({ matcher: 'header', wanted: 'x-tenant = "a"', found: 'b' });
  });

  it('asks what is staged, what is active, or any snapshot', async () => {
    const winnerOf = async (choice: string) =>
      (await ask({ url: '/shop/new', snapshot: choice })).json.winner?.route.id;
    expect(await winnerOf('staged')).to.equal('new');
    expect(await winnerOf('active')).to.equal('old');
    expect(await winnerOf(snapshot)).to.equal('old');
  });

  it('answers 404 for a snapshot that does not exist', async () => {
    expect((await ask({ url: '/', snapshot: 'gone' })).status).to.equal(404);
  });

  it('names every wrong field', async () => {
    const { status, text } = await ask({ url: 'shop', method: 'G T', headers: { a: 1 }, clientIp: 'x' });
    expect(status).to.equal(400);
    for (const pointer of ['/url', '/method', '/headers/a', '/clientIp']) expect(text).to.contain(pointer);
  });

  it('takes empty and null optional fields for absent ones', async () => {
    const usual = await ask({ url: '/shop/new' });
    for (const nothing of ['', null]) {
      const { status, text } = await ask({
        url: '/shop/new',
        method: nothing,
        clientIp: nothing,
        snapshot: nothing,
        body: nothing,
      });
      expect(status, text).to.equal(200);
      expect(text).to.equal(usual.text);
    }
  });

  it('lets expressions see the body', async () => {
    const match = { path: '/sent', cel: 'request.body.raw == "x"' };
    await create('routes', { id: 'sent', name: 'sent', match, directResponse: { status: 200 } });
    const winner = async (body: string) =>
      (await ask({ method: 'POST', url: '/sent', body, snapshot: 'staged' })).json.winner?.route.id;
    expect(await winner('x')).to.equal('sent');
    expect(await winner('y')).to.equal('old');
  });

  it('shows values of secrets to an admin who asks for them, and nothing to a proxy', async () => {
    for (const key of ['root', 'eye']) {
      const seen = await ask({ url: '/a' }, key);
      expect(seen.status).to.equal(200);
      expect(seen.text).not.to.contain('CANARY-51');
    }
    const resolved = (key: string) => server.call('POST', `${path}?secrets=resolved`, { body: { url: '/a' }, key });
    expect((await resolved('root')).text).to.contain('CANARY-51');
    expect((await resolved('eye')).status).to.equal(403);
    expect((await ask({ url: '/a' }, 'edge')).status).to.equal(403);
  });

  it('shows no secret in whichever spelling it comes out', async () => {
    const secret = 'Q"x\\y%z\n<é>&+ 7f3a';
    const words = /7f3a|%3Cé|%C3%A9|x\\|y%|\\u00e9/i;
    await create('secrets', { id: 'odd', name: 'odd', value: secret });
    await create('secrets', { id: 'line', name: 'line', value: secret.replace('\n', '') });
    await create('secrets', { id: 'host', name: 'host', value: 'Secret-Host.test' });
    const reference = '{{secret:value:odd}}';
    await create('destinations', {
      id: 'hidden',
      name: reference,
      host: '{{secret:value:host}}',
      port: 80,
      endpoints: [
        { host: '{{secret:value:host}}', port: 81 },
        { host: 'known.test', port: 82 },
      ],
      options: {
        endpointBalancing: {
          algorithm: 'RING_HASH',
          ringHash: { hashPolicy: [{ header: { name: 'x-key', enabled: true } }] },
        },
      },
    });
    const requestHeadersToAdd = [
      { key: 'x-key', value: '{{secret:value:line}}' },
      { key: 'host', value: '{{secret:value:host}}' },
    ];
    await create('middlewares', {
      id: 'sets',
      name: `sets ${reference}`,
      type: 'headers',
      headers: { requestHeadersToAdd },
    });
    await create('routes', {
      id: 'odd',
      name: `to ${reference}`,
      match: { pathPrefix: '/odd' },
      forward: { destinations: [{ destinationId: 'hidden' }], rewrite: { path: `/a/${reference}` } },
      middlewareIds: ['sets'],
    });
    await create('routes', {
      id: 'elsewhere',
      name: 'elsewhere',
      match: { path: `/odd/${reference}`, headers: [{ name: 'x-a', value: reference }] },
      redirect: { path: `/to/${reference}` },
    });
    const path = `/odd/${encodeURIComponent(secret)}`;
    for (const headers of [{}, { 'x-a': secret }]) {
      const { status, text } = await ask({ url: path, headers, snapshot: 'staged' }, 'eye');
      expect(status, text).to.equal(200);
      const { request: _, candidates, ...made } = JSON.parse(text) as { request: object; candidates: object[] };
      const shown = JSON.stringify({ made, candidates: candidates.map((one) => ({ ...one, failed: undefined })) });
      expect(shown)
        .to.not.match(words)
        .and.not.match(/secret-host/i);
      expect(shown).to.contain('***');
    }
    const { text } = await ask({ url: '/odd/x', snapshot: 'staged' }, 'eye');
    const { outcome, choice, middlewares } = JSON.parse(text);
    expect(outcome.upstream).to.deep.include({ target: '***', host: '***' });
    expect(choice.destinations[0].endpoints.map(({ name }: { name: string }) => name)).to.deep.equal([
      '***-1:81',
      'known.test:82',
    ]);
    expect(choice.destinations[0]).to.not.have.property('key');
    expect(middlewares[0].effect.changes.map(({ value }: { value: string }) => value)).to.deep.equal(['***', '***']);
    await server.call('DELETE', '/routes/odd', { key: 'root' });
    await server.call('DELETE', '/routes/elsewhere', { key: 'root' });
  });

  it('is refused without a key', async () => {
    expect((await server.call('POST', path, { body: { url: '/' } })).status).to.equal(401);
  });
});
