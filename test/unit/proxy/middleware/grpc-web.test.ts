// Middleware grpcWeb (“gRPC Web” of the gRPC protocol documents) on real sockets: a client of gRPC-Web, and an upstream of gRPC over HTTP/2.
import { request } from 'node:http';
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Base64Decoder } from '../../../../src/proxy/middleware/grpc-web/base64-decoder.ts';
import { trailerFrame } from '../../../../src/proxy/middleware/grpc-web/trailer-frame.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';

const frame = (flag: number, content: string): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, Buffer.from(content, 'latin1')]);
};

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

describe('middleware grpcWeb', () => {
  let bed: MiddlewareBed;
  let upstream: Http2Server;
  let received: Received | undefined;
  let answer: (stream: ServerHttp2Stream) => void;
  beforeEach(async () => {
    bed = new MiddlewareBed();
    received = undefined;
    answer = (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'fine' }));
      stream.write(frame(0, 'one'));
      stream.end(frame(0, 'two'));
    };
    upstream = createServer();
    upstream.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', () => {});
      stream.on('end', () => {
        received = { headers, body: Buffer.concat(chunks) };
        // A call that is refused on the way is reset.
        if (!stream.destroyed) answer(stream);
      });
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    await bed.serve([{ type: 'grpcWeb' }], {
      route: { forward: { destinations: [{ destinationId: 'grpc' }] } },
      more: {
        destinations: [{ id: 'grpc', name: 'grpc', host: '127.0.0.1', port, options: { http2: true } }],
      },
    });
  });
  afterEach(async () => {
    await bed.end();
    await new Promise((resolve) => upstream.close(resolve));
  });

  const call = (headers: Record<string, string>, chunks: readonly (Buffer | string)[]) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
      const asked = request({ port: bed.port, host: '127.0.0.1', method: 'POST', path: '/shop.Cart/Get', headers });
      asked.on('error', reject);
      asked.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (chunk: Buffer) => parts.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
        );
      });
      for (const chunk of chunks) asked.write(chunk);
      asked.end();
    });

  const trailers = frame(0x80, 'grpc-status: 0\r\ngrpc-message: fine\r\n');
  const whole = Buffer.concat([frame(0, 'one'), frame(0, 'two'), trailers]);
  const decoded = (body: Buffer): Buffer | undefined => new Base64Decoder().decode(body);

  it('a binary call is gRPC upstream, and the trailers are the last frame', async () => {
    const web = { 'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1' };
    const { status, headers, body } = await call(web, [frame(0, 'ask')]);
    expect(received?.headers).to.include({ 'content-type': 'application/grpc+proto', te: 'trailers' });
    expect(received?.headers).to.not.have.property('x-grpc-web');
    expect(received?.body).to.deep.equal(frame(0, 'ask'));
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/grpc-web+proto']);
    expect(body).to.deep.equal(whole);
  });

  it('a call as text is decoded, also in segments that are cut anywhere, and answered as text', async () => {
    const text = frame(0, 'a').toString('base64') + frame(0, 'bc').toString('base64');
    const web = { 'content-type': 'application/grpc-web-text' };
    const { headers, body } = await call(web, [text.slice(0, 3), text.slice(3, 9), text.slice(9)]);
    expect(received?.headers['content-type']).to.equal('application/grpc');
    expect(received?.headers).to.not.have.property('content-length');
    expect(received?.body).to.deep.equal(Buffer.concat([frame(0, 'a'), frame(0, 'bc')]));
    expect(headers['content-type']).to.equal('application/grpc-web-text+proto');
    expect(decoded(body)).to.deep.equal(whole);
  });

  it('Accept chooses the form of the response', async () => {
    const binary = await call({ 'content-type': 'application/grpc-web-text', accept: 'application/grpc-web' }, ['']);
    expect(binary.body).to.deep.equal(whole);
    const text = await call({ 'content-type': 'application/grpc-web', accept: 'application/grpc-web-text' }, ['']);
    expect(decoded(text.body)).to.deep.equal(whole);
  });

  for (const [row, chunks] of [
    ['malformed', ['AAAA%%%%']],
    ['cut off', ['AAAA', 'AA']],
    ['padded too early', ['A===']],
  ] as const) {
    it(`a text that is ${row} is answered 400`, async () => {
      const { status, body } = await call({ 'content-type': 'application/grpc-web-text' }, chunks);
      expect([status, body.toString()]).to.deep.equal([400, '{"error":"malformed request body"}']);
    });
  }

  it('a response of trailers only has its status in the head', async () => {
    answer = (stream) =>
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '5' }, { endStream: true });
    const { headers, body } = await call({ 'content-type': 'application/grpc-web' }, ['']);
    expect(headers).to.include({ 'content-type': 'application/grpc-web', 'grpc-status': '5' });
    expect(body).to.have.length(0);
  });

  it('a response that is no gRPC passes as it is', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 404, 'content-type': 'text/plain' });
      stream.end('none');
    };
    const { status, headers, body } = await call({ 'content-type': 'application/grpc-web' }, ['']);
    expect([status, headers['content-type'], body.toString()]).to.deep.equal([404, 'text/plain', 'none']);
  });

  for (const type of ['application/json', 'application/grpc', 'application/grpc-webx']) {
    it(`a request of ${type} passes as it is`, async () => {
      const { headers, body } = await call({ 'content-type': type, 'x-grpc-web': '1' }, ['AAAA']);
      expect(received?.headers).to.include({ 'content-type': type, 'x-grpc-web': '1' });
      expect(received?.body.toString()).to.equal('AAAA');
      expect(headers['content-type']).to.equal('application/grpc+proto');
      expect(body).to.deep.equal(whole.subarray(0, whole.length - trailers.length));
    });
  }
});

describe('trailer frame of gRPC-Web', () => {
  it('has names in lower case and one blank behind the colon', () => {
    expect(trailerFrame('Grpc-Status:0\r\nX-A:   B: c\r\n')).to.deep.equal(
      frame(0x80, 'grpc-status: 0\r\nx-a: B: c\r\n'),
    );
  });

  it('is absent without trailers', () => expect(trailerFrame('')).to.equal(undefined));
});

describe('base64 of a stream', () => {
  it('is decoded in chunks of any length, and as nothing but padded groups', () => {
    const plain = Buffer.alloc(6 << 20, 'abc');
    expect(new Base64Decoder().decode(Buffer.from(plain.toString('base64')))?.equals(plain)).to.equal(true);
    const padded = new Base64Decoder().decode(Buffer.from('YQ=='.repeat(1 << 18)));
    expect(padded?.equals(Buffer.alloc(1 << 18, 'a'))).to.equal(true);
  });

  for (const text of ['=', 'A===', '====', 'AB=C', 'ABC=D', 'AB\n=', 'AB-_', 'A B='])
    it(`is not ${JSON.stringify(text)}, whole or cut`, () => {
      const whole = new Base64Decoder();
      expect(whole.decode(Buffer.from(text)) === undefined || !whole.isWhole).to.equal(true);
      const decoder = new Base64Decoder();
      const parts = [...text].map((letter) => decoder.decode(Buffer.from(letter)));
      expect(parts.includes(undefined) || !decoder.isWhole).to.equal(true);
    });

  it('is the same for every way of cutting it', () => {
    const texts = ['', 'a', 'ab', 'abc', 'abcd', 'abcde'];
    const all = texts.map((text) => Buffer.from(text).toString('base64')).join('');
    for (let size = 1; size <= all.length; size++) {
      const decoder = new Base64Decoder();
      const parts: Buffer[] = [];
      for (let at = 0; at < all.length; at += size)
        parts.push(decoder.decode(Buffer.from(all.slice(at, at + size))) ?? Buffer.from('?'));
      expect([Buffer.concat(parts).toString(), decoder.isWhole], String(size)).to.deep.equal([texts.join(''), true]);
    }
  });
});
