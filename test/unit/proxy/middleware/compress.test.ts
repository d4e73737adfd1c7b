// Middleware compress on real sockets: bodies in codings, the fields beside them, and bodies that must stay as they are.
import { randomBytes } from 'node:crypto';
import { type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:http2';
import {
  brotliCompressSync,
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createZstdDecompress,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import { expect } from 'chai';
import type { CompressConfig } from '../../../../src/model/middleware/compress-options.ts';
import { compileChoice } from '../../../../src/proxy/middleware/compress/accept-encoding.ts';
import { PoolTurns } from '../../../../src/proxy/middleware/pool-turns.ts';
import { eventually } from '../../../support/eventually.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';

const text = JSON.stringify(Array.from({ length: 4000 }, (_, id) => ({ id, name: `item ${id}` })));
const json = { 'content-type': 'application/json' };

describe('coding of a client (RFC 9110 §12.5.3)', () => {
  const rows: readonly (readonly [field: string | undefined, chosen: string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['compress, gzip', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip; q=0.5, br; q=0.8', 'br'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.000', undefined],
    ['*', 'zstd'],
    ['*;q=0', undefined],
    ['zstd;q=0, *', 'br'],
    ['gzip;q=0.5, *;q=0', 'gzip'],
    ['gzip;q=1.0, identity; q=0.5, *;q=0', 'gzip'],
    ['identity', undefined],
    ['identity;q=1, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['gzip;q=2', undefined],
    ['gzip;q=0.1234', undefined],
    ['gzip;level=9', undefined],
    ['deflate', undefined],
    [`${'a,'.repeat(300)}gzip`, 'gzip'],
    [`${'a,'.repeat(4_094)}gzip`, 'gzip'],
    [`${'a,'.repeat(4_095)}gzip`, undefined],
  ];
  for (const [field, chosen] of rows)
    it(`${field?.slice(0, 60) ?? 'no field'} chooses ${chosen ?? 'no coding'}`, () => {
      const choose = compileChoice(['zstd', 'br', 'gzip']);
      expect(choose(field)).to.equal(chosen);
      expect(choose(field)).to.equal(chosen);
    });

  it('weights that are alike go by the order of algorithms', () => {
    expect(compileChoice(['gzip', 'br'])('br, gzip, zstd')).to.equal('gzip');
  });
});

describe('turns on the thread pool', () => {
  it('are given in order, at most so many at a time', () => {
    const turns = new PoolTurns(1);
    const got: string[] = [];
    const taker = (name: string) => ({ onTurn: () => got.push(name) });
    const [a, b, c] = [taker('a'), taker('b'), taker('c')];
    for (const each of [a, b, c]) turns.take(each);
    expect(got).to.deep.equal(['a']);
    turns.cancel(b);
    turns.release();
    expect(got).to.deep.equal(['a', 'c']);
    turns.release();
    turns.take(b);
    expect(got).to.deep.equal(['a', 'c', 'b']);
  });
});

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

describe('middleware compress (contract.md §8.9)', () => {
  let bed: MiddlewareBed;
  beforeEach(() => {
    bed = new MiddlewareBed();
    bed.answer = {
      status: 200,
      headers: { ...json, etag: '"v1"', 'accept-ranges': 'bytes', 'content-length': String(text.length) },
      body: text,
    };
  });
  afterEach(() => bed.end());

  const serve = (compress: CompressConfig = {}, around = {}) => bed.serve([{ type: 'compress', compress }], around);

  /** In front of an upstream that answers by itself. */
  const serveBefore = async (
    handler: (request: IncomingMessage, response: ServerResponse) => void,
    compress: CompressConfig = {},
  ) => {
    const port = await bed.bed.upstream(handler);
    await serve(compress, {
      route: { forward: { destinations: [{ destinationId: 'own' }] } },
      more: { destinations: [{ id: 'own', name: 'own', host: '127.0.0.1', port }] },
    });
  };

  const open = (headers: Record<string, string> = {}, method = 'GET', body?: Buffer): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: bed.port, method, path: '/', headers, agent: false };
      request(options, resolve).on('error', reject).end(body);
    });

  const get = async (headers: Record<string, string> = {}, method = 'GET', body?: Buffer): Promise<Got> => {
    const response = await open(headers, method, body);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
  };

  const decoders = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync } as const;
  for (const coding of ['gzip', 'br', 'zstd'] as const) {
    it(`${coding}: a response arrives whole, with the fields of its coding`, async () => {
      await serve();
      const { headers, body } = await get({ 'accept-encoding': coding });
      expect(headers).to.include({ 'content-encoding': coding, vary: 'Accept-Encoding', etag: 'W/"v1"' });
      expect(headers).to.not.have.any.keys('content-length', 'accept-ranges');
      expect(decoders[coding](body).toString()).to.equal(text);
      expect(body.length).to.be.below(text.length / 3);
    });
  }

  it('a higher level makes a smaller response', async () => {
    const sizes: number[] = [];
    for (const br of [0, 9]) {
      await serve({ levels: { br } });
      sizes.push((await get({ 'accept-encoding': 'br' })).body.length);
    }
    expect(sizes[1]).to.be.below(sizes[0] ?? 0);
  });

  it('a client without codings gets the response as it is, which varies all the same', async () => {
    await serve();
    const { headers, body } = await get();
    expect(headers).to.include({ vary: 'Accept-Encoding', etag: '"v1"', 'content-length': String(text.length) });
    expect(headers).to.not.have.property('content-encoding');
    expect(body.toString()).to.equal(text);
  });

  it('HEAD has the head of GET without length', async () => {
    await serve();
    const accept = { 'accept-encoding': 'gzip' };
    const { headers } = await get(accept, 'HEAD');
    const { headers: ofGet } = await get(accept);
    expect(headers).to.not.have.property('content-length');
    for (const name of ['content-encoding', 'vary', 'etag']) expect(headers[name], name).to.equal(ofGet[name]);
  });

  it('HEAD of a direct response has no length either', async () => {
    const typed = { responseHeadersToAdd: [{ key: 'Content-Type', value: 'text/plain' }] };
    await bed.serve(
      [
        { type: 'compress', compress: {} },
        { type: 'headers', headers: typed },
      ],
      { route: { forward: undefined as never, directResponse: { status: 200, body: 'x'.repeat(4096) } } },
    );
    const accept = { 'accept-encoding': 'gzip' };
    expect(gunzipSync((await get(accept)).body).toString()).to.equal('x'.repeat(4096));
    const { headers } = await get(accept, 'HEAD');
    expect(headers['content-encoding']).to.equal('gzip');
    expect(headers).to.not.have.property('content-length');
  });

  const untouched: readonly (readonly [
    name: string,
    answer: Partial<MiddlewareBed['answer']>,
    asked?: Record<string, string>,
  ])[] = [
    ['a body below minBytes', { headers: { ...json, 'content-length': '7' }, body: '{"a":1}' }],
    ['a type that is not listed', { headers: { 'content-type': 'image/png' } }],
    ['no type', { headers: {} }],
    ['a coded body', { headers: { ...json, 'content-encoding': 'br' } }],
    ['no-transform in the response', { headers: { ...json, 'cache-control': 'public, no-transform' } }],
    ['no-transform in the request', { headers: json }, { 'cache-control': 'No-Transform' }],
    ['206', { status: 206, headers: { ...json, 'content-range': 'bytes 0-9/10' } }],
    ['204', { status: 204, headers: {}, body: '' }],
    ['gRPC', { headers: { 'content-type': 'application/grpc+proto' } }],
    ['gRPC-Web', { headers: { 'content-type': 'application/grpc-web-text' } }],
    ['a digest of the content', { headers: { ...json, 'repr-digest': 'sha-256=:AAAA:' } }],
    ['an empty body', { headers: { ...json, 'content-length': '0' }, body: '' }],
  ];
  for (const [name, answer, asked = {}] of untouched)
    it(`stays as it is: ${name}`, async () => {
      bed.answer = { status: 200, headers: {}, body: text, ...answer };
      await serve({ types: ['application/*', 'text/*'] });
      const { headers, body } = await get({ 'accept-encoding': 'gzip, br, zstd', ...asked });
      expect(headers['content-encoding']).to.equal(bed.answer.headers['content-encoding']);
      expect(body.toString()).to.equal(bed.answer.body);
    });

  it('304 names the weak tag to a client that has the compressed response, and the strong one to another', async () => {
    bed.answer = { status: 304, headers: { etag: '"v1"' }, body: '' };
    await serve();
    const weak = await get({ 'accept-encoding': 'gzip', 'if-none-match': '"v0", W/"v1"' });
    expect([weak.status, weak.headers.etag, weak.headers.vary]).to.deep.equal([304, 'W/"v1"', 'Accept-Encoding']);
    expect((await get({ 'if-none-match': '"v1"' })).headers.etag).to.equal('"v1"');
  });

  it('Vary of the upstream stays, and names the field once', async () => {
    bed.answer = { status: 200, headers: { ...json, vary: 'Origin' }, body: text };
    await serve();
    expect((await get()).headers.vary).to.equal('Origin, Accept-Encoding');
    for (const vary of ['accept-encoding, Origin', '*']) {
      bed.answer = { status: 200, headers: { ...json, vary }, body: text };
      expect((await get({ 'accept-encoding': 'gzip' })).headers.vary).to.equal(vary);
    }
  });

  it('no shared cache serves a client what it cannot read, in any order of clients', async () => {
    const clients: readonly Readonly<Record<string, string>>[] = [
      {},
      { 'accept-encoding': '' },
      { 'accept-encoding': 'gzip' },
      { 'accept-encoding': 'br' },
      { 'accept-encoding': 'zstd, br;q=0' },
      { 'accept-encoding': 'identity' },
      { 'accept-encoding': '*;q=0' },
      { 'accept-encoding': 'gzip', 'cache-control': 'no-transform' },
    ];
    const reads = ({ 'accept-encoding': sent = '' }: Readonly<Record<string, string>>, coding: string): boolean =>
      sent.split(',').some((each) => each.trim() === coding);
    for (const algorithms of [undefined, ['br'] as const]) {
      await serve(algorithms === undefined ? {} : { algorithms: [...algorithms] });
      for (let first = 0; first < clients.length; first++) {
        /** Cache as RFC 9111 §4.1 has it, for one URL. */
        const stored: { readonly sent: Readonly<Record<string, string>>; readonly got: Got }[] = [];
        const isFor = (headers: Readonly<Record<string, string>>, { sent, got }: (typeof stored)[number]): boolean =>
          String(got.headers.vary ?? '')
            .toLowerCase()
            .split(',')
            .every((name) => sent[name.trim()] === headers[name.trim()]);
        for (const headers of [...clients.slice(first), ...clients.slice(0, first)]) {
          const kept = stored.find((each) => isFor(headers, each));
          const got = kept?.got ?? (await get({ ...headers }));
          if (kept === undefined) stored.push({ sent: headers, got });
          const coding = String(got.headers['content-encoding'] ?? '');
          if (coding !== '') expect(reads(headers, coding), `${coding} ${JSON.stringify(headers)}`).to.equal(true);
        }
      }
    }
  });

  it('upstreams get Accept-Encoding, or do not where it is stripped', async () => {
    await serve();
    await get({ 'accept-encoding': 'gzip' });
    expect(bed.lastSent('accept-encoding')).to.equal('gzip');
    await serve({ upstreamAcceptEncoding: 'strip' });
    expect((await get({ 'accept-encoding': 'gzip' })).headers['content-encoding']).to.equal('gzip');
    expect(bed.lastSent('accept-encoding')).to.equal(undefined);
  });

  const streams = { gzip: createGunzip, br: createBrotliDecompress, zstd: createZstdDecompress } as const;
  for (const coding of ['gzip', 'br', 'zstd'] as const)
    it(`${coding}: an event stream arrives event by event`, async () => {
      let upstream: ServerResponse | undefined;
      await serveBefore((_request, response) => {
        upstream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: 0\n\n');
      });
      const response = await open({ 'accept-encoding': coding });
      expect(response.headers['content-encoding']).to.equal(coding);
      let seen = '';
      response.pipe(streams[coding]()).on('data', (chunk: Buffer) => {
        seen += chunk.toString();
      });
      let wanted = '';
      for (let i = 0; i < 4; i++) {
        if (i > 0) upstream?.write(`data: ${i}\n\n`);
        wanted += `data: ${i}\n\n`;
        await eventually(() => expect(seen).to.equal(wanted));
      }
      upstream?.end();
      await eventually(() => expect(response.complete).to.equal(true));
    });

  it('trailers come behind a compressed body', async () => {
    await serveBefore((_request, response) => {
      response.writeHead(200, { ...json, trailer: 'x-sum' });
      response.write(text);
      response.addTrailers({ 'x-sum': '7' });
      response.end();
    });
    const response = await open({ 'accept-encoding': 'gzip', te: 'trailers' });
    for await (const _ of response);
    expect(response.trailers).to.deep.equal({ 'x-sum': '7' });
  });

  it('an upstream that breaks off breaks the response off', async () => {
    await serveBefore((_request, response) => {
      response.writeHead(200, json);
      response.write(text, () => response.destroy());
    });
    const response = await open({ 'accept-encoding': 'gzip' });
    let error: unknown;
    try {
      for await (const _ of response);
    } catch (failure) {
      error = failure;
    }
    expect(error).to.be.instanceOf(Error);
  });

  it('a client that goes away leaves room for others', async () => {
    await serveBefore((_request, response) => {
      response.writeHead(200, json);
      const more = () => void (response.destroyed || response.write(text, () => setImmediate(more)));
      more();
    });
    for (let i = 0; i < 12; i++) {
      const response = await open({ 'accept-encoding': 'gzip' });
      await new Promise((resolve) => response.once('data', resolve));
      response.destroy();
    }
    bed.answer = { status: 200, headers: json, body: text };
    await serve();
    expect(gunzipSync((await get({ 'accept-encoding': 'gzip' })).body).toString()).to.equal(text);
  });

  it('a client that reads slowly holds no other up', async () => {
    const large = Buffer.alloc(8 << 20, text);
    await serveBefore((_request, response) => void response.writeHead(200, json).end(large), { levels: { gzip: 1 } });
    const slow = await Promise.all(Array.from({ length: 20 }, () => open({ 'accept-encoding': 'gzip' })));
    expect(gunzipSync((await get({ 'accept-encoding': 'gzip' })).body).equals(large)).to.equal(true);
    for (const response of slow) response.destroy();
  });

  it('many at once arrive whole', async () => {
    await serve();
    const all = await Promise.all(Array.from({ length: 60 }, () => get({ 'accept-encoding': 'zstd' })));
    for (const { body } of all) expect(zstdDecompressSync(body).toString()).to.equal(text);
  });

  it('over HTTP/2 as over HTTP/1.1', async () => {
    await serve({}, { listener: { http2: true } });
    const session = connect(`http://127.0.0.1:${bed.port}`);
    try {
      const stream = session.request({ ':path': '/', 'accept-encoding': 'br' });
      let headers: IncomingHttpHeaders = {};
      stream.on('response', (fields) => {
        headers = fields;
      });
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      expect(headers).to.include({ 'content-encoding': 'br', vary: 'Accept-Encoding' });
      expect(headers).to.not.have.property('content-length');
      expect(brotliDecompressSync(Buffer.concat(chunks)).toString()).to.equal(text);
    } finally {
      session.destroy();
    }
  });

  describe('decompressRequest', () => {
    const post = (body: Buffer, coding: string) => get({ 'content-encoding': coding }, 'POST', body);
    const error = ({ status, body }: Got) => [status, body.toString()];
    beforeEach(() => {
      bed.answer = { status: 200, headers: {}, body: 'ok' };
    });

    it('without it, a body goes on as it came', async () => {
      await serve();
      await post(gzipSync('plain'), 'gzip');
      expect(bed.lastSent('content-encoding')).to.equal('gzip');
    });

    it('the upstream gets the plain body', async () => {
      await serve({ decompressRequest: {} });
      for (const [coding, body] of [
        ['gzip', gzipSync(text)],
        ['x-gzip', gzipSync(text)],
        ['zstd', zstdCompressSync(text)],
        ['br', brotliCompressSync(text)],
      ] as const) {
        expect((await post(body, coding)).status, coding).to.equal(200);
        expect(bed.lastBody).to.equal(text);
        expect(bed.lastSent('content-encoding')).to.equal(undefined);
      }
      expect((await post(Buffer.from('as it is'), 'identity')).status).to.equal(200);
      expect(bed.lastBody).to.equal('as it is');
    });

    it('a bomb is 413 by ratio, and by size', async () => {
      const bomb = gzipSync(Buffer.alloc(32 << 20));
      await serve({ decompressRequest: { maxBytes: 1 << 30 } });
      expect(error(await post(bomb, 'gzip'))).to.deep.equal([413, '{"error":"request body too large"}']);
      await serve({ decompressRequest: { maxRatio: 1_000_000, maxBytes: 65_536 } });
      expect((await post(bomb, 'gzip')).status).to.equal(413);
      const zstd = zstdCompressSync(Buffer.alloc(32 << 20));
      expect((await post(zstd, 'zstd')).status).to.equal(413);
    });

    it('a bomb of many members, or behind a harmless beginning, is 413 too', async () => {
      await serve({ decompressRequest: { maxRatio: 100, maxBytes: 2 << 20 } });
      const harmless = gzipSync(randomBytes(64 << 10));
      const bombs: readonly Buffer[] = [
        Buffer.concat(Array.from({ length: 400 }, () => gzipSync(Buffer.alloc(64 << 10)))),
        Buffer.concat([harmless, gzipSync(Buffer.alloc(32 << 20))]),
      ];
      const statuses = [];
      for (const bomb of bombs) statuses.push((await post(bomb, 'gzip')).status);
      expect(statuses).to.deep.equal([413, 413]);
    });

    it('bytes behind the content are 400 and not dropped, in the same chunk and in a later one', async () => {
      await serve({ decompressRequest: {} });
      const contents = { gzip: gzipSync(text), br: brotliCompressSync(text), zstd: zstdCompressSync(text) };
      for (const [coding, content] of Object.entries(contents))
        for (const rest of ['{"admin":true}', '\0\0\0\0']) {
          const body = Buffer.concat([content, Buffer.from(rest)]);
          expect((await post(body, coding)).status, `${coding} ${rest}`).to.equal(400);
          const later = new Promise<number>((resolve, reject) => {
            const headers = { 'content-encoding': coding };
            const sent = request(
              { host: '127.0.0.1', port: bed.port, method: 'POST', headers, agent: false },
              (response) => {
                response.resume();
                resolve(response.statusCode ?? 0);
              },
            );
            sent.on('error', reject);
            sent.write(content, () => setImmediate(() => sent.end(rest)));
          });
          expect(await later, `${coding} ${rest} later`).to.equal(400);
        }
    });

    it('what is no such coding is 400, an unknown or second one 415', async () => {
      await serve({ decompressRequest: {} });
      expect(error(await post(Buffer.from('not gzip'), 'gzip'))).to.deep.equal([
        400,
        '{"error":"malformed request body"}',
      ]);
      expect((await post(gzipSync(text).subarray(0, 100), 'gzip')).status).to.equal(400);
      for (const coding of ['deflate', 'gzip, gzip', 'sdch']) {
        const refused = await post(gzipSync('x'), coding);
        expect(error(refused)).to.deep.equal([415, '{"error":"unsupported content encoding"}']);
        expect(refused.headers['accept-encoding']).to.equal('zstd, br, gzip');
      }
    });
  });
});
