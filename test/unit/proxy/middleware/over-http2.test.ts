// The same middlewares where the client speaks HTTP/2: nothing of theirs knows the version.

import { readFileSync } from 'node:fs';
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { keyed, storedConsumers } from '../../../support/consumers.ts';
import { eventually } from '../../../support/eventually.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';
import { listening } from '../../../support/proxy-bed.ts';
import { rejection } from '../../../support/rejection.ts';
import { TemporaryDirectories } from '../../../support/temporary-directory.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../../../support/tokens.ts';

describe('middlewares over HTTP/2', () => {
  const directories = new TemporaryDirectories();
  let bed: MiddlewareBed;
  let session: ClientHttp2Session | undefined;
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(async () => {
    session?.destroy();
    session = undefined;
    await bed.end();
    await directories.removeAll();
  });

  const listener = { http2: true };
  const ask = (headers: OutgoingHttpHeaders, body: string | Buffer = '') =>
    new Promise<{ headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
      session ??= connect(`http://127.0.0.1:${bed.port}`);
      const stream = session.request({ ':path': '/', ...headers }, { endStream: body.length === 0 });
      let answered: IncomingHttpHeaders = {};
      const chunks: Buffer[] = [];
      stream.on('response', (fields) => {
        answered = fields;
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () => resolve({ headers: answered, body: Buffer.concat(chunks).toString() }));
      if (body.length > 0) stream.end(body);
    });

  const by = signerOf('ES256');
  const jwt = {
    type: 'jwt',
    jwt: { issuer: 'i', jwksInline: jwksOf(by.jwk), claimToHeaders: [{ expr: 'claims.sub', header: 'X-User' }] },
  } as const;
  const authorization = `Bearer ${tokenOf(by, { iss: 'i', exp: inAnHour(), sub: 'ann' })}`;

  it('values that templates, claims and the configuration begin or end with blanks go both ways without them', async () => {
    const upstream = createServer((request, response) => response.end(JSON.stringify(request.headers)));
    bed.bed.atEnd(async () => void upstream.close());
    const port = await listening(upstream);
    const value = ' ${request.header.x-none}\t';
    const blanks = [
      { key: 'X-Blank', value: `${value}a b${value}` },
      { key: 'X-Empty', value },
    ];
    const claimToHeaders = [
      { expr: 'claims.sub + " "', header: 'X-User' },
      { expr: '" "', header: 'X-Nothing' },
    ];
    await bed.serve(
      [
        { ...jwt, jwt: { ...jwt.jwt, claimToHeaders } },
        { type: 'headers', headers: { requestHeadersToAdd: blanks, responseHeadersToAdd: blanks } },
      ],
      {
        listener: { ...listener, serverName: ' shop ' },
        route: { forward: { destinations: [{ destinationId: 'two' }] } },
        more: {
          destinations: [{ id: 'two', name: 'two', host: '127.0.0.1', port, options: { http2: true } }],
          routes: [
            {
              id: 'fixed',
              name: 'fixed',
              match: { path: '/fixed' },
              directResponse: {
                status: 200,
                body: 'x',
                contentType: 'a/b ',
                headers: [{ key: 'X-Blank', value: ' a b ' }],
              },
            },
          ],
        },
      },
    );
    const answer = await ask({ authorization, 'x-nothing': 'forged' });
    expect(answer.headers).to.include({ 'x-blank': 'a b', 'x-empty': '', server: 'shop' });
    const sent = JSON.parse(answer.body);
    expect(sent).to.include({ 'x-blank': 'a b', 'x-empty': '', 'x-user': 'ann' });
    expect(sent).to.not.have.property('x-nothing');
    const fixed = await ask({ ':path': '/fixed' });
    expect(fixed.headers).to.include({ 'x-blank': 'a b', 'content-type': 'a/b', server: 'shop' });
  });

  it('apiKey: streams of one connection share no consumer, and trailers name none', async () => {
    const tell = { requestHeadersToAdd: [{ key: 'x-consumer', value: `\${consumer.name}` }] };
    const apiKey = { sources: { header: 'x-api-key' }, consumerHeader: 'x-who' };
    await bed.serve(
      [
        { type: 'apiKey', apiKey },
        { type: 'headers', headers: tell },
      ],
      {
        listener,
        route: { middlewareOverrides: { m0: { skipWhen: ['request.path == "/open"'] } } },
        more: { consumers: storedConsumers(keyed('one', ['k1']), keyed('two', ['k2'])) },
      },
    );
    const asks = Array.from({ length: 60 }, (_, at) => {
      const [path, fields, name] = [
        ['/1', { 'x-api-key': 'k1', 'x-who': 'two' }, 'one'],
        ['/2', { 'x-api-key': 'k2', x_who: 'one' }, 'two'],
        ['/open', { 'x-who': 'one', 'x-consumer': 'one' }, ''],
      ][at % 3] as [string, Record<string, string>, string];
      return ask({ ':path': path, 'x-at': String(at), ...fields }).then(() => `${at} ${name}`);
    });
    const wanted = await Promise.all(asks);
    const got = bed.reached.map(({ headers }) => `${headers['x-at']} ${headers['x-consumer']}`);
    expect(got.sort()).to.deep.equal(wanted.sort());
    for (const { headers, url } of bed.reached) {
      expect(headers['x-who'] ?? '', url).to.equal(headers['x-consumer']);
      expect(headers).to.not.have.any.keys('x_who', 'x-api-key');
    }
  });

  it('apiKey: a key among the pieces of a cookie is read and does not go on, the other pieces do', async () => {
    const apiKey = { sources: { cookie: 'key' } };
    await bed.serve([{ type: 'apiKey', apiKey }], {
      listener,
      more: { consumers: storedConsumers(keyed('a', ['k1'])) },
    });
    const { headers } = await ask({ cookie: ['a=1', 'key=k1', 'b=2'] });
    expect(headers[':status']).to.equal(200);
    expect(bed.reached[0]?.headers.cookie).to.equal('a=1; b=2');
    const several = await ask({ cookie: ['key=k1', 'a=1', 'key=k2'] });
    expect([several.headers[':status'], several.body]).to.deep.equal([401, '{"error":"more than one API key"}']);
  });

  it('compress: coded requests are decoded, and what grows too much or goes on behind its end is refused', async () => {
    await bed.serve([{ type: 'compress', compress: { decompressRequest: { maxRatio: 10 } } }], { listener });
    const post = async (body: Buffer) =>
      (await ask({ ':method': 'POST', 'content-encoding': 'gzip' }, body)).headers[':status'];
    expect(await post(gzipSync('plain'))).to.equal(200);
    expect(bed.lastBody).to.equal('plain');
    expect(await post(gzipSync(Buffer.alloc(1 << 20)))).to.equal(413);
    expect(await post(Buffer.concat([gzipSync('plain'), Buffer.from('more')]))).to.equal(400);
    expect(await post(Buffer.from('plain'))).to.equal(400);
  });

  it('jwt: claims are headers, forged ones are gone, rejections are JSON', async () => {
    await bed.serve([jwt], { listener });
    const good = await ask({ authorization, x_user: 'root', 'x-user': 'root' });
    expect([good.headers[':status'], good.body]).to.deep.equal([200, 'upstream']);
    expect([bed.lastSent('x-user'), bed.lastSent('x_user'), bed.lastSent('authorization')]).to.deep.equal([
      'ann',
      undefined,
      undefined,
    ]);
    const bad = await ask({ authorization: 'Bearer a.b' });
    expect(bad.headers).to.include({
      ':status': 401,
      'www-authenticate': 'Bearer',
      'content-type': 'application/json',
    });
    expect(bad.body).to.equal('{"error":"invalid token format"}');
  });

  it('a caller of gRPC-Web gets a rejection as trailers only, in a type that it reads', async () => {
    await bed.serve([{ type: 'rateLimit', rateLimit: { requestsPerSecond: 0.001, burst: 1 } }], { listener });
    const call = { ':method': 'POST', 'content-type': 'application/grpc-web-text+proto' };
    await ask(call, 'x');
    const { headers } = await ask(call, 'x');
    expect(headers).to.include({ ':status': 200, 'content-type': 'application/grpc-web', 'grpc-status': '8' });
  });

  const rules = [{ cel: 'request.body.raw == "yes"', action: 'allow' }] as const;
  const grpc = (middleware: Parameters<MiddlewareBed['serve']>[0][number], status: string) =>
    it(`a gRPC caller gets a rejection by ${middleware.type} as trailers: grpc-status ${status}`, async () => {
      await bed.serve([middleware], { listener });
      const call = { ':method': 'POST', 'content-type': 'application/grpc' };
      await ask(call, 'x');
      const { headers } = await ask(call, 'x');
      expect(headers).to.include({ ':status': 200, 'grpc-status': status });
      expect(headers['grpc-message']).to.be.a('string');
    });
  grpc(jwt, '16');
  grpc({ type: 'inlineAuthz', inlineAuthz: { rules } }, '7');
  grpc({ type: 'rateLimit', rateLimit: { requestsPerSecond: 0.001, burst: 1 } }, '8');

  it('headers, cors and accessLog, on many streams at once', async () => {
    const path = join(await directories.make(), 'access.log');
    const fields = { n: '${request.header.x-n}', s: '${response.status}', v: '${protocol}' };
    await bed.serve(
      [
        { type: 'accessLog', accessLog: { path, onResponse: { fields } } },
        { type: 'cors', cors: { allowOrigins: [{ value: '*' }] } },
        { type: 'headers', headers: { responseHeadersToAdd: [{ key: 'X-Echo', value: '${request.header.x-n}' }] } },
        { type: 'inlineAuthz', inlineAuthz: { rules } },
      ],
      { listener },
    );
    const numbers = [...Array(40).keys()];
    const body = (n: number) => (n % 4 === 0 ? 'no' : 'yes');
    const answers = await Promise.all(
      numbers.map((n) => ask({ ':method': 'POST', 'x-n': String(n), origin: 'https://a.test' }, body(n))),
    );
    for (const n of numbers) {
      const { headers } = answers[n] ?? { headers: {} };
      expect(headers, String(n)).to.include({
        ':status': body(n) === 'yes' ? 200 : 403,
        'x-echo': String(n),
        'access-control-allow-origin': 'https://a.test',
      });
    }
    await eventually(() => {
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1).sort();
      expect(lines).to.deep.equal(numbers.map((n) => `n=${n} s=${body(n) === 'yes' ? 200 : 403} v=HTTP/2.0`).sort());
    });
  });

  it('accessLog: names the error of a response that breaks off in its body', async () => {
    const path = join(await directories.make(), 'access.log');
    const upstream = await bed.bed.upstream((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    const fields = { s: '${response.status}', e: '${error}' };
    await bed.serve([{ type: 'accessLog', accessLog: { path, onResponse: { fields } } }], {
      listener,
      route: { forward: { destinations: [{ destinationId: 'up' }] } },
      more: { destinations: [{ id: 'up', name: 'up', host: '127.0.0.1', port: upstream }] },
    });
    await rejection(ask({}));
    await eventually(() => expect(readFileSync(path, 'utf8')).to.equal('s=200 e=connection_reset\n'));
  });
});
