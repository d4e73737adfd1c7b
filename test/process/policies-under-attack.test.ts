// Attacks on the policies of a real node, over HTTP/1.1 and HTTP/2: what must not get through by being long, by coming
// twice, or by being written in another way.
import { createServer, type Server } from 'node:http';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { rawExchange } from '../support/proxy-bed.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../support/tokens.ts';

const by = signerOf('ES256');
const dear =
  'request.path.split("/").exists(p, ["x1","x2","x3","x4","x5"].exists(x, p.contains(x) || p.endsWith("y")))';
const padding = 'a/'.repeat(20_000);

interface Sent {
  readonly path: string;
  readonly method?: string;
  /** Header lines by name, one for each value. */
  readonly lines?: Readonly<Record<string, readonly string[]>>;
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

describe('policies under attack', () => {
  let node: SluiceProcess;
  let api: ApiClient;
  let upstream: Server;
  let port: number;
  const reached: string[] = [];

  const overHttp1 = async ({ path, method = 'GET', lines = {} }: Sent): Promise<Answer> => {
    const fields = Object.entries(lines).flatMap(([name, values]) => values.map((value) => `${name}: ${value}\r\n`));
    const text = await rawExchange(
      port,
      `${method} ${path} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n${fields.join('')}\r\n`,
    );
    const [head = '', body = ''] = text.split('\r\n\r\n', 2);
    return { status: Number(head.split(' ', 2)[1]), location: /^location: (.*)$/im.exec(head)?.[1], body };
  };

  const overHttp2 = ({ path, method = 'GET', lines = {} }: Sent): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const session = connect(`http://127.0.0.1:${port}`, { maxSendHeaderBlockLength: 1 << 21 });
      session.on('error', reject);
      const many = Object.fromEntries(Object.entries(lines).map(([name, values]) => [name, [...values]]));
      const stream = session.request({ ':method': method, ':path': path, ...many }, { endStream: true });
      let answer: Answer = { status: 0, location: undefined, body: '' };
      stream.setEncoding('utf8');
      stream.on('error', reject);
      stream.on('response', ({ ':status': status, location }) => {
        answer = { ...answer, status: status ?? 0, location };
      });
      stream.on('data', (text: string) => {
        answer = { ...answer, body: answer.body + text };
      });
      stream.on('end', () => {
        session.close();
        resolve(answer);
      });
    });

  before(async () => {
    node = await startSluice({ more: 'proxy: { workers: 2 }' });
    api = apiClient(node.url);
    upstream = createServer({ maxHeaderSize: 1 << 21 }, ({ method, url }, response) => {
      reached.push(`${method} ${url}`);
      response.end('upstream');
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    port = await freePort();
    const listener = { name: 'web', address: '127.0.0.1', port, http2: true, maxRequestHeadersKB: 1024 };
    await api.create('listeners', { ...listener, duplicateQueryParams: 'reject' });
    const destination = await api.create('destinations', {
      ...{ name: 'shop', host: '127.0.0.1', port: (upstream.address() as AddressInfo).port },
      options: { healthCheck: { path: '/größe/日?k=ü', interval: '1s', unhealthyThreshold: 1 } },
    });
    const forward = { destinations: [{ destinationId: destination }] };
    const jwt = await api.create('middlewares', {
      ...{ name: 'jwt', type: 'jwt', jwt: { issuer: 'i', jwksInline: jwksOf(by.jwk) } },
    });
    const rules = await api.create('middlewares', {
      ...{ name: 'rules', type: 'inlineAuthz' },
      inlineAuthz: {
        rules: [
          {
            cel: '"user-agent" in request.headers && request.headers["user-agent"].matches("evil")',
            action: 'deny',
          },
          { cel: 'request.method == "DELETE"', action: 'deny' },
          { cel: 'request.headers["x-tenant"] == "public"', action: 'allow' },
        ],
      },
    });
    await api.create('routes', {
      ...{ name: 'private', match: { pathPrefix: '/jwt' }, forward, middlewareIds: [jwt] },
      middlewareOverrides: { [jwt]: { onlyWhen: [`${dear} || request.path.endsWith("/private")`] } },
    });
    await api.create('routes', { name: 'rules', match: { pathPrefix: '/rules' }, forward, middlewareIds: [rules] });
    await api.create('routes', {
      name: 'cel',
      match: { pathPrefix: '/cel', cel: dear },
      directResponse: { status: 299 },
    });
    await api.create('routes', { name: 'get', match: { path: '/method', methods: ['get'] }, forward });
    await api.create('routes', { name: 'all', match: { pathPrefix: '/cel' }, forward });
    await api.create('routes', {
      ...{ name: 'leads', match: { path: '/leads' } },
      redirect: { url: 'https://bücher.example/日' },
    });
    await api.activateAs('v1');
    await eventually(async () => expect((await overHttp1({ path: '/leads' })).status).to.equal(301));
  });
  after(async () => {
    await node.stop();
    upstream.close();
    upstream.closeAllConnections();
  });

  for (const [version, ask] of [
    ['1.1', overHttp1],
    ['2', overHttp2],
  ] as const) {
    describe(`over HTTP/${version}`, () => {
      const status = async (sent: Sent) => (await ask(sent)).status;
      const errorOf = async (sent: Sent): Promise<string> => JSON.parse((await ask(sent)).body).error;

      it('no length of a path gets past a jwt', async () => {
        expect(await status({ path: '/jwt/public' })).to.equal(200);
        expect(await status({ path: '/jwt/private' })).to.equal(401);
        const before = reached.length;
        expect(await status({ path: `/jwt/${padding}private` })).to.equal(401);
        expect(reached.slice(before).filter((line) => line.includes('private'))).to.deep.equal([]);
        const token = tokenOf(by, { iss: 'i', exp: inAnHour() });
        for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
          expect(await status({ path: '/jwt/private', lines: { authorization: [`${scheme} ${token}`] } })).to.equal(
            200,
          );
        }
      });

      it('no padding gets past a rule that denies', async () => {
        const as = (agent: string) =>
          status({ path: '/rules/x', lines: { 'x-tenant': ['public'], 'user-agent': [agent] } });
        expect(await as('curl')).to.equal(200);
        expect(await as('evil')).to.equal(403);
        expect(await as(`${'a'.repeat(900_000)}evil`)).to.equal(403);
      });

      it('no second line gets past a rule that allows', async () => {
        const as = (...tenants: string[]) => status({ path: '/rules/x', lines: { 'x-tenant': tenants } });
        expect(await as('public')).to.equal(200);
        expect(await as('public', 'internal')).to.equal(403);
        expect(await as('internal', 'public')).to.equal(403);
      });

      it('methods are compared as they are', async () => {
        expect(await status({ path: '/method' })).to.equal(200);
        expect(await status({ path: '/method', method: 'get' })).to.equal(404);
        const { body } = await api.get<{ items: { name: string; match: object }[] }>('/routes');
        const list = Array.isArray(body) ? body : body.items;
        expect(list.find(({ name }: { name: string }) => name === 'get')?.match).to.deep.equal({
          path: '/method',
          methods: ['GET'],
        });
      });

      it('a matcher that takes too many steps ends the request, and explain says so', async () => {
        expect(await status({ path: '/cel/a' })).to.equal(200);
        expect(await errorOf({ path: `/cel/${padding}` })).to.equal('expression_limit');
        const { body } = await api.post('/explain', { method: 'GET', url: `/cel/${padding}` });
        expect(body.outcome).to.deep.equal({ action: 'error', status: 400, error: 'expression_limit' });
      });

      it('a query parameter that is there twice is refused where the listener says so', async () => {
        expect(await status({ path: '/method?a=1&b=1' })).to.equal(200);
        expect(await errorOf({ path: '/method?a=1&%61=2' })).to.equal('duplicate_query_param');
      });

      it('a location beyond ASCII arrives in ASCII', async () => {
        expect((await ask({ path: '/leads' })).location).to.equal('https://xn--bcher-kva.example/%E6%97%A5');
      });
    });
  }

  it('a health check beyond ASCII asks for one path, and takes nothing down', async () => {
    await eventually(() => expect(reached).to.include('GET /gr%C3%B6%C3%9Fe/%E6%97%A5?k=%C3%BC'));
    expect((await overHttp1({ path: '/method' })).status).to.equal(200);
  });

  it('paths without canonical form are refused when they are written, with the field', async () => {
    for (const [kind, body, pointer] of [
      ['routes', { match: { path: '/a?b' }, directResponse: { status: 200 } }, '/match/path'],
      ['routes', { redirect: { path: '/#/login' } }, '/redirect/path'],
      ['routes', { redirect: { url: 'https://a b/' } }, '/redirect/url'],
      ['groups', { pathPrefix: '/a#b' }, '/pathPrefix'],
      ['destinations', { host: 'a', port: 1, options: { healthCheck: { path: '/a#b' } } }, '/options/healthCheck/path'],
      ['middlewares', { type: 'extAuthz', extAuthz: { destinationId: 'd', path: '/a#b' } }, '/extAuthz/path'],
    ] as const) {
      const { status, body: answer } = await api.post(`/${kind}`, { name: 'odd', ...body });
      expect([status, JSON.stringify(answer).includes(pointer)], pointer).to.deep.equal([400, true]);
    }
  });
});
