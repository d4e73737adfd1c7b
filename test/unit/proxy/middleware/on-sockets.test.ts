import { request } from 'node:http';
import { expect } from 'chai';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';

describe('middlewares on real sockets', () => {
  let bed: MiddlewareBed;
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(() => bed.end());

  const add = (key: string, value: string) =>
    ({ type: 'headers', headers: { requestHeadersToAdd: [{ key, value }] } }) as const;

  it('headers: request and response change, and Host is that of the upstream', async () => {
    bed.answer = { status: 200, headers: { 'x-b': 'old', server: 'inner' }, body: 'hello' };
    await bed.serve([
      {
        type: 'headers',
        headers: {
          requestHeadersToAdd: [
            { key: 'X-A', value: '${request.method} ${request.path} ${request.host} ${request.header.x-who}' },
            { key: 'Host', value: 'inner.example.com' },
            { key: 'Connection', value: 'x-who' },
          ],
          requestHeadersToRemove: ['x-who', 'X-Gone'],
          responseHeadersToAdd: [
            { key: 'X-B', value: 'new ${request.scheme}' },
            { key: 'X-C', value: 'c', append: true },
          ],
          responseHeadersToRemove: ['Server'],
        },
      },
    ]);
    const { status, headers, body } = await bed.ask({ path: '/a?b=c', headers: { 'X-Who': 'me', 'x-gone': '1' } });
    expect([status, body]).to.deep.equal([200, 'hello']);
    expect(bed.lastSent('x-a')).to.equal('GET /a 127.0.0.1 me');
    expect(bed.lastSent('host')).to.equal('inner.example.com');
    expect(bed.lastSent('x-who')).to.equal(undefined);
    expect(bed.lastSent('x-gone')).to.equal(undefined);
    expect(headers).to.include({ 'x-b': 'new http', 'x-c': 'c' });
    expect(headers).to.not.have.property('server');
  });

  it('headers: ${request.id} and request.id are one UUID of version 7 for each request, not the id of the client', async () => {
    const ids = [
      { key: 'X-Request-Id', value: '${request.id}' },
      { key: 'X-Same', value: 'yes', when: 'request.headers["x-id"] == request.id' },
    ];
    await bed.serve([
      { type: 'headers', headers: { requestHeadersToAdd: [{ key: 'X-Id', value: '${request.id}' }] } },
      { type: 'headers', headers: { requestHeadersToAdd: ids, responseHeadersToAdd: ids } },
    ]);
    const seen = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const { headers } = await bed.ask({ headers: { 'X-Request-Id': 'forged' } });
      const id = String(headers['x-request-id']);
      expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect([bed.lastSent('x-request-id'), bed.lastSent('x-same'), headers['x-same']]).to.deep.equal([
        id,
        'yes',
        'yes',
      ]);
      seen.add(id);
    }
    expect(seen.size).to.equal(3);
  });

  it('headers: a condition over the status sees the one of the upstream, and that of Sluice', async () => {
    const responseHeadersToAdd = [
      { key: 'X-Ok', value: '1', when: 'response.status == 200' },
      { key: 'X-Bad', value: '1', when: 'response.status >= 400' },
    ];
    const rules = [{ cel: 'request.path == "/secret"', action: 'deny' }] as const;
    await bed.serve([
      { type: 'headers', headers: { responseHeadersToAdd } },
      { type: 'inlineAuthz', inlineAuthz: { rules, defaultAction: 'allow' } },
    ]);
    const marks = async (path: string) => {
      const { headers } = await bed.ask({ path });
      return [headers['x-ok'], headers['x-bad']];
    };
    expect(await marks('/')).to.deep.equal(['1', undefined]);
    expect(await marks('/secret')).to.deep.equal([undefined, '1']);
    bed.answer = { status: 404, headers: {}, body: '' };
    expect(await marks('/')).to.deep.equal([undefined, '1']);
  });

  it('headers: what is removed from the head does not come in again as a trailer', async () => {
    await bed.serve([{ type: 'headers', headers: { requestHeadersToRemove: ['x-user'] } }]);
    await new Promise<void>((resolve, reject) => {
      const asked = request({ port: bed.port, host: '127.0.0.1', method: 'POST', headers: { 'X-User': 'forged' } });
      asked.on('response', (response) => response.resume().on('end', resolve)).on('error', reject);
      asked.write('body');
      asked.addTrailers({ 'X-User': 'forged', x_user: 'forged', 'X-Checksum': '7' });
      asked.end();
    });
    expect(bed.lastSent('x-user')).to.equal(undefined);
    expect(bed.reached.at(-1)?.trailers).to.deep.equal({ 'x-checksum': '7' });
  });

  it('headers: an override replaces the whole block, on the entry that has it', async () => {
    await bed.serve([add('X-A', 'block')], {
      route: { middlewareOverrides: { m0: { headers: { requestHeadersToAdd: [{ key: 'X-B', value: 'override' }] } } } },
    });
    await bed.ask();
    expect([bed.lastSent('x-a'), bed.lastSent('x-b')]).to.deep.equal([undefined, 'override']);
  });

  it('cors: a preflight never reaches the upstream, another request gets its headers', async () => {
    await bed.serve([
      { type: 'cors', cors: { allowOrigins: [{ value: 'https://a.example' }], allowMethods: ['PUT'] } },
    ]);
    const headers = { origin: 'https://a.example' };
    const preflight = await bed.ask({ method: 'OPTIONS', headers });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers).to.include({
      'access-control-allow-origin': 'https://a.example',
      'access-control-allow-methods': 'PUT',
      vary: 'Origin',
    });
    expect(preflight.headers).to.not.have.property('content-length');
    expect(bed.reached).to.have.length(0);
    const put = await bed.ask({ method: 'PUT', headers, body: 'x' });
    expect(put.headers).to.include({ 'access-control-allow-origin': 'https://a.example', vary: 'Origin' });
    expect((await bed.ask({ method: 'OPTIONS', headers: { origin: 'https://b.example' } })).body).to.equal('upstream');
  });

  it('cors: stands around proxy errors and redirects as well', async () => {
    const cors = { type: 'cors', cors: { allowOrigins: [{ value: '*' }] } } as const;
    await bed.serve([cors], { route: { forward: { destinations: [{ destinationId: 'gone' }] } } });
    const headers = { origin: 'https://a.example' };
    const error = await bed.ask({ headers });
    expect(error.status).to.equal(502);
    expect(error.headers).to.include({ 'access-control-allow-origin': 'https://a.example' });
    await bed.serve([cors], { route: { forward: undefined as never, redirect: { path: '/b' } } });
    const redirect = await bed.ask({ headers });
    expect(redirect.status).to.equal(301);
    expect(redirect.headers).to.include({ 'access-control-allow-origin': 'https://a.example' });
  });

  it('inlineAuthz: allows and denies by the request as earlier middlewares left it', async () => {
    const rules = [{ cel: 'request.headers["x-role"] == "admin"', action: 'allow' }] as const;
    await bed.serve([{ type: 'inlineAuthz', inlineAuthz: { rules, denyStatus: 418, denyBody: 'teapot' } }]);
    const denied = await bed.ask();
    expect([denied.status, denied.headers['content-type'], denied.body]).to.deep.equal([
      418,
      'application/json',
      'teapot',
    ]);
    expect(bed.reached).to.have.length(0);
    expect((await bed.ask({ headers: { 'x-role': 'admin' } })).status).to.equal(200);
    await bed.serve([add('X-Role', 'admin'), { type: 'inlineAuthz', inlineAuthz: { rules } }]);
    expect((await bed.ask({ headers: { 'x-role': 'guest' } })).status).to.equal(200);
  });

  it('inlineAuthz: reads the body, which goes on whole', async () => {
    const rules = [{ cel: 'request.body.json.user == "ann"', action: 'allow' }] as const;
    await bed.serve([{ type: 'inlineAuthz', inlineAuthz: { rules } }]);
    const send = (user: string) =>
      bed.ask({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ user }) });
    expect((await send('bob')).status).to.equal(403);
    expect((await send('ann')).status).to.equal(200);
    expect(bed.lastSent('content-length')).to.equal('14');
  });

  it('a direct response goes through the chain', async () => {
    await bed.serve(
      [{ type: 'headers', headers: { responseHeadersToAdd: [{ key: 'X-A', value: '${request.path}' }] } }],
      {
        route: { forward: undefined as never, directResponse: { status: 203, body: 'direct' } },
      },
    );
    const { status, headers, body } = await bed.ask({ path: '/p' });
    expect([status, headers['x-a'], body]).to.deep.equal([203, '/p', 'direct']);
  });

  it('group, then route; first is outermost, on the response too', async () => {
    const trail = (id: string) =>
      ({
        id,
        type: 'headers',
        headers: {
          requestHeadersToAdd: [{ key: 'X-Trail', value: id, append: true }],
          responseHeadersToAdd: [{ key: 'X-Trail', value: id, append: true }],
        },
      }) as const;
    await bed.serve(['a', 'b', 'c'].map(trail), {
      group: { middlewareIds: ['c', 'a'] },
      route: { middlewareIds: ['b', 'a', 'c'] },
    });
    const { headers } = await bed.ask();
    expect(bed.lastSent('x-trail')).to.deep.equal(['c', 'a', 'b']);
    expect(headers['x-trail']).to.equal('b, a, c');
  });

  it('skipWhen, onlyWhen and disabled decide as each is reached', async () => {
    await bed.serve([add('X-A', '1'), add('X-B', '1'), add('X-C', '1'), add('X-D', '1')], {
      route: {
        middlewareOverrides: {
          m1: { skipWhen: ['request.headers["x-a"] == "1"'] },
          m2: { onlyWhen: ['"x-b" in request.headers', 'request.headers["x-a"] == "1"'] },
          m3: { disabled: true },
        },
      },
    });
    await bed.ask();
    expect(['x-a', 'x-b', 'x-c', 'x-d'].map((name) => bed.lastSent(name))).to.deep.equal([
      '1',
      undefined,
      '1',
      undefined,
    ]);
  });

  it('a rejection is seen by the middlewares around it and by none further in', async () => {
    const rules = [{ cel: 'false', action: 'allow' }] as const;
    const mark = (key: string) =>
      ({ type: 'headers', headers: { responseHeadersToAdd: [{ key, value: '1' }] } }) as const;
    await bed.serve([mark('X-Around'), { type: 'inlineAuthz', inlineAuthz: { rules } }, mark('X-Within')]);
    const { status, headers } = await bed.ask();
    expect([status, headers['x-around'], headers['x-within']]).to.deep.equal([403, '1', undefined]);
  });

  it('rateLimit: routes that share the middleware share its buckets', async () => {
    const route = (path: string) => ({
      ...{ id: path.slice(1), name: path, match: { path }, middlewareIds: ['m0'] },
      directResponse: { status: 204 },
    });
    const limiter = { type: 'rateLimit', rateLimit: { requestsPerSecond: 0.001, burst: 2 } } as const;
    await bed.serve([limiter], { more: { routes: [route('/a'), route('/b')] } });
    const statuses = [];
    for (const path of ['/a', '/b', '/a', '/b']) statuses.push((await bed.ask({ path })).status);
    expect(statuses).to.deep.equal([204, 204, 429, 429]);
  });

  it('rateLimit: 429 with Retry-After once the bucket is empty, for that client alone', async () => {
    await bed.serve([{ type: 'rateLimit', rateLimit: { requestsPerSecond: 0.01, burst: 2 } }], {
      listener: { trustedProxies: ['127.0.0.1'] },
    });
    const from = (ip: string) => bed.ask({ headers: { 'x-forwarded-for': ip } });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await from('192.0.2.1')).status);
    expect(statuses).to.deep.equal([200, 200, 429]);
    const limited = await from('192.0.2.1');
    expect(limited.body).to.equal('{"error":"rate limit exceeded"}');
    expect(limited.headers['content-type']).to.equal('application/json');
    expect(Number(limited.headers['retry-after'])).to.be.within(50, 100);
    expect((await from('192.0.2.2')).status).to.equal(200);
    expect((await from('::ffff:192.0.2.1')).status).to.equal(429);
  });

  it('rateLimit: an untrusted client cannot take from the buckets of others', async () => {
    await bed.serve([{ type: 'rateLimit', rateLimit: { requestsPerSecond: 0.01, burst: 1 } }]);
    expect((await bed.ask({ headers: { 'x-forwarded-for': '192.0.2.1' } })).status).to.equal(200);
    expect((await bed.ask({ headers: { 'x-forwarded-for': '192.0.2.2' } })).status).to.equal(429);
  });

  it('rateLimit: its own trustedProxies walk X-Forwarded-For as the client sent it, right to left', async () => {
    const rateLimit = { requestsPerSecond: 0.001, burst: 1, trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] };
    await bed.serve([{ type: 'rateLimit', rateLimit }]);
    const status = async (forwardedFor: string | string[]) =>
      (await bed.ask({ headers: { 'x-forwarded-for': forwardedFor } })).status;
    expect(await status('192.0.2.9, 192.0.2.1, 10.1.1.1')).to.equal(200);
    expect(await status('192.0.2.8, 192.0.2.1')).to.equal(429);
    expect(await status(['192.0.2.7', '192.0.2.1, 10.2.2.2'])).to.equal(429);
    expect(await status('192.0.2.9')).to.equal(200);
    // All are trusted: the leftmost.
    expect(await status('10.0.0.1, 10.0.0.2')).to.equal(200);
    expect(await status('10.0.0.1, 10.0.0.3')).to.equal(429);
  });

  it('rateLimit: one set of buckets for all routes, kept by activations that do not change it', async () => {
    const limit = (burst: number) => ({ type: 'rateLimit', rateLimit: { requestsPerSecond: 0.001, burst } }) as const;
    await bed.serve([limit(2)]);
    expect((await bed.ask()).status).to.equal(200);
    await bed.serve([limit(2), add('X-A', 'changed')]);
    expect((await bed.ask()).status).to.equal(200);
    expect((await bed.ask()).status).to.equal(429);
    await bed.serve([limit(2)], { route: { name: 'another' } });
    expect((await bed.ask()).status).to.equal(429);
    await bed.serve([limit(3)]);
    expect((await bed.ask()).status).to.equal(200);
  });
});
