// Destinations of HTTP/2 on real sockets: what travels there and back, how connections are shared, and what happens to
// requests when an upstream refuses them or leaves.
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { request as send } from 'undici';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { Http2Client } from '../../../support/http2-client.ts';
import { block, END_HEADERS, END_STREAM, frame, settings, uint32, WHOLE } from '../../../support/http2-frames.ts';
import { frameUpstream, http2Upstream } from '../../../support/http2-upstream.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { forwarding, ProxyBed, RawClient, rawExchange } from '../../../support/proxy-bed.ts';

describe('a destination that speaks HTTP/2', () => {
  let bed: ProxyBed;
  let port: number;
  const clients: Http2Client[] = [];
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await bed.end();
  });

  const to = (upstreamPort: number, options: object = {}, host = '127.0.0.1'): Partial<Configuration> => {
    const config = forwarding(port, upstreamPort, {
      listener: { http2: true },
      destination: { options: { http2: true, ...options } },
    });
    return { ...config, destinations: (config.destinations ?? []).map((destination) => ({ ...destination, host })) };
  };
  const connect = (): Http2Client => {
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    clients.push(client);
    return client;
  };
  const echo = (stream: ServerHttp2Stream, headers: Record<string, unknown>): void => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const { ':method': method, ':path': path, ':authority': authority, te } = headers;
      const trailers: Record<string, string> = {};
      stream.additionalHeaders({ ':status': 103, link: '</a>' });
      stream.respond(
        { ':status': 201, 'x-seen': `${method} ${path} ${authority} ${te}`, 'set-cookie': ['a', 'b'] },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => stream.sendTrailers({ ...trailers, 'x-sum': '7' }));
      stream.end(method === 'HEAD' ? undefined : Buffer.concat(chunks));
    });
  };

  // The client was reset without a byte, as if it had used a stale connection, and clients repeat their request then.
  it('that fails in the packet of its head counts as a response cut short, not as a connection without one', async () => {
    const upstreamPort = await frameUpstream(bed, ({ type, streamId }, socket) => {
      if (type !== 'HEADERS') return;
      const head = frame('HEADERS', END_HEADERS, streamId, block([':status', '200']));
      const part = frame('DATA', 0, streamId, Buffer.from('part'));
      socket.write(Buffer.concat([head, part, frame('RST_STREAM', 0, streamId, uint32(2))]));
    });
    await bed.install(to(upstreamPort));
    const client = new RawClient(port);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    const received = await client.untilClosed();
    expect(received).to.match(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n4\r\npart\r\n$/s);
  });

  // HTTP/1.1 has no place for them behind a Content-Length: they were lost.
  it('has trailers that it announces behind a content-length passed on in chunks', async () => {
    const upstream = await http2Upstream(bed, (stream) => {
      stream.respond({ ':status': 200, 'content-length': '4', trailer: 'x-sum' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '4' }));
      stream.end('body');
    });
    await bed.install(to(upstream.port));
    const answer = await rawExchange(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(answer)
      .to.match(/\r\n\r\n4\r\nbody\r\n0\r\nx-sum: 4\r\n\r\n$/)
      .and.not.match(/content-length/i);
    const { headers, trailers } = await connect().ask({ ':path': '/' });
    expect([headers['content-length'], trailers['x-sum']]).to.deep.equal(['4', '4']);
  });

  it('gets requests of both versions, and its heads, bodies, trailers and hints come back', async () => {
    const upstream = await http2Upstream(bed, echo);
    await bed.install(to(upstream.port));
    const second = await connect().ask({ ':method': 'POST', ':path': '/a?b', te: 'trailers' }, 'hello');
    expect([second.status, second.body, second.trailers['x-sum'], second.interim]).to.deep.equal([
      201,
      'hello',
      '7',
      [103],
    ]);
    expect(second.headers['x-seen']).to.equal(`POST /a?b 127.0.0.1:${port} trailers`);
    expect(second.headers['set-cookie']).to.deep.equal(['a', 'b']);
    const { statusCode, headers, body, trailers } = await send(`http://127.0.0.1:${port}/c`, {
      method: 'PUT',
      body: 'first',
    });
    expect([statusCode, await body.text(), trailers['x-sum']]).to.deep.equal([201, 'first', '7']);
    expect(headers['x-seen']).to.equal(`PUT /c 127.0.0.1:${port} undefined`);
    const head = await send(`http://127.0.0.1:${port}/d`, { method: 'HEAD' });
    expect([head.statusCode, await head.body.text()]).to.deep.equal([201, '']);
    expect((await rawExchange(port, 'GET / HTTP/1.0\r\nHost: x\r\n\r\n')).split('\r\n')[0]).to.equal(
      'HTTP/1.1 201 Created',
    );
    expect(upstream.opened).to.equal(1);
  });

  it('gets bodies of any size, both ways at once', async () => {
    const upstream = await http2Upstream(bed, (stream) => {
      stream.respond({ ':status': 200 });
      stream.pipe(stream);
    });
    await bed.install(to(upstream.port));
    const client = connect();
    const sent = Buffer.alloc(1_500_000, 'abcdefg');
    const bodies = await Promise.all(
      Array.from({ length: 4 }, () => client.ask({ ':method': 'POST', ':path': '/' }, sent)),
    );
    for (const { body } of bodies) expect(body === sent.toString()).to.equal(true);
    const byHttp1 = await send(`http://127.0.0.1:${port}/`, { method: 'POST', body: sent });
    expect((await byHttp1.body.text()) === sent.toString()).to.equal(true);
  });

  it('shares a connection up to what it allows, and no more than are allowed are opened', async () => {
    const waiting: ServerHttp2Stream[] = [];
    const upstream = await http2Upstream(bed, (stream) => waiting.push(stream), {
      settings: { maxConcurrentStreams: 2 },
    });
    await bed.install(to(upstream.port, { maxConnsPerHost: 2 }));
    const client = connect();
    // The first request finds out what is allowed.
    client.open({ ':path': '/' }, true);
    await eventually(() => expect(waiting.length).to.equal(1));
    const answers = Array.from({ length: 6 }, () => client.ask({ ':path': '/' }));
    await eventually(() => expect(waiting.length).to.equal(4));
    expect(upstream.opened).to.equal(2);
    let answered = 0;
    await eventually(() => {
      for (; answered < waiting.length; answered++) {
        waiting[answered]?.respond({ ':status': 200 });
        waiting[answered]?.end();
      }
      expect(waiting.length).to.equal(7);
    });
    for (const answer of answers) expect((await answer).status).to.equal(200);
    expect(upstream.opened).to.equal(2);
  });

  it('gets a request again when it refuses a stream, bodies included', async () => {
    const asked: number[] = [];
    const upstreamPort = await frameUpstream(bed, ({ type, streamId, flags }, socket) => {
      if (type !== 'DATA' || (flags & 1) === 0) return;
      asked.push(streamId);
      if (asked.length === 1) socket.write(frame('RST_STREAM', 0, streamId, uint32(7)));
      else socket.write(frame('HEADERS', WHOLE, streamId, block([':status', '200'])));
    });
    await bed.install(to(upstreamPort));
    const { status } = await connect().ask({ ':method': 'POST', ':path': '/' }, 'body');
    expect([status, asked]).to.deep.equal([200, [1, 3]]);
  });

  it('may send GOAWAY: requests it has not begun go to another connection, the others are finished', async () => {
    const upstreamPort = await frameUpstream(bed, ({ type, streamId }, socket, connection) => {
      if (type !== 'HEADERS') return;
      const ok = frame('HEADERS', WHOLE, streamId, block([':status', '200'], ['x-on', String(connection)]));
      if (connection > 1) socket.write(ok);
      else if (streamId === 3) {
        socket.write(frame('GOAWAY', 0, 0, Buffer.concat([uint32(1), uint32(0)])));
        socket.write(frame('HEADERS', WHOLE, 1, block([':status', '200'], ['x-on', '1'])));
      }
    });
    await bed.install(to(upstreamPort));
    const client = connect();
    const answers = await Promise.all([
      client.ask({ ':path': '/', ':method': 'DELETE' }),
      client.ask({ ':path': '/', ':method': 'PATCH' }),
    ]);
    expect(answers.map(({ status, headers }) => [status, headers['x-on']])).to.deep.equal([
      [200, '1'],
      [200, '2'],
    ]);
  });

  it('that closed an idle connection gets an idempotent request again on another', async () => {
    const asked: string[] = [];
    const upstreamPort = await frameUpstream(bed, ({ type, streamId }, socket, connection) => {
      if (type !== 'HEADERS') return;
      asked.push(`${connection} ${streamId}`);
      // It goes without a word, and without having looked at what came.
      if (connection === 1 && streamId > 1) socket.destroy();
      else socket.write(frame('HEADERS', WHOLE, streamId, block([':status', '204'])));
    });
    await bed.install(to(upstreamPort));
    const client = connect();
    expect((await client.ask({ ':path': '/' })).status).to.equal(204);
    expect((await client.ask({ ':path': '/' })).status).to.equal(204);
    expect(asked).to.deep.equal(['1 1', '1 3', '2 1']);
  });

  // Go's server does so when the trailers of another request come after its answer.
  it('that ends its connection with an error gets idempotent requests again on another', async () => {
    const asked: string[] = [];
    const upstreamPort = await frameUpstream(bed, ({ type, flags, streamId }, socket, connection) => {
      if (type === 'HEADERS' || (type === 'DATA' && flags === END_STREAM)) asked.push(`${connection} ${streamId}`);
      if (connection > 1) {
        if (type === 'HEADERS') socket.write(frame('HEADERS', WHOLE, streamId, block([':status', '204'])));
      } else if (asked.length === 3) {
        socket.write(frame('GOAWAY', 0, 0, Buffer.concat([uint32(3), uint32(1)])));
        socket.end();
      }
    });
    await bed.install(to(upstreamPort));
    const client = connect();
    const answers = await Promise.all([
      client.ask({ ':method': 'POST', ':path': '/' }, 'body'),
      client.ask({ ':path': '/' }),
    ]);
    expect(answers.map(({ status }) => status)).to.deep.equal([502, 204]);
    expect(answers[0]?.body).to.include('the upstream closed the connection after GOAWAY: PROTOCOL_ERROR');
    expect(asked.sort()).to.deep.equal(['1 1', '1 1', '1 3', '2 1']);
  });

  it('that resets, sends a wrong length or invalid frames fails one request or its connection, as an error', async () => {
    const upstreamPort = await frameUpstream(bed, ({ type, streamId, payload }, socket) => {
      if (type !== 'HEADERS') return;
      const path = payload.toString('latin1');
      if (path.includes('/reset')) socket.write(frame('RST_STREAM', 0, streamId, uint32(2)));
      else if (path.includes('/short')) {
        socket.write(frame('HEADERS', END_HEADERS, streamId, block([':status', '200'], ['content-length', '9'])));
        socket.write(frame('DATA', 1, streamId, Buffer.from('abc')));
      } else if (path.includes('/nonsense')) socket.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
      else socket.write(frame('HEADERS', WHOLE, streamId, block([':status', '204'])));
    });
    await bed.install(to(upstreamPort));
    const client = connect();
    const reset = await client.ask({ ':path': '/reset' });
    expect([reset.status, JSON.parse(reset.body).error]).to.deep.equal([502, 'connection_reset']);
    const short = await client.ask({ ':path': '/short' });
    expect([short.status, short.code]).to.deep.equal([200, 2]);
    const nonsense = await client.ask({ ':path': '/nonsense' });
    expect([nonsense.status, JSON.parse(nonsense.body).error]).to.deep.equal([502, 'bad_response']);
    expect((await client.ask({ ':path': '/' })).status).to.equal(204);
  });

  it('gets a reset when a client goes, and its silence is limited', async () => {
    let cancelled = 0;
    const upstream = await http2Upstream(bed, (stream) => {
      stream.on('close', () => {
        if (stream.rstCode === 8) cancelled++;
      });
    });
    await bed.install(to(upstream.port, { timeouts: { responseHeader: '300ms' } }));
    const client = connect();
    const stream = client.open({ ':path': '/' }, true);
    await eventually(() => expect(upstream.opened).to.equal(1));
    stream.close(8);
    const slow = await client.ask({ ':path': '/' });
    expect([slow.status, JSON.parse(slow.body).error]).to.deep.equal([504, 'timeout']);
    await eventually(() => expect(cancelled).to.be.at.least(1));
  });

  it('is negotiated by ALPN under TLS, and only as configured', async () => {
    const authority = makeCertificate({ authority: true, subject: [['CN', 'a']] });
    const { cert, key } = makeCertificate({ issuer: authority, addresses: ['127.0.0.1'] });
    const upstream = await http2Upstream(bed, echo, { cert, key });
    await bed.install(to(upstream.port, { tls: { mode: 'tls', ca: authority.cert } }));
    expect((await connect().ask({ ':path': '/' }, 'secret')).body).to.equal('secret');
  });

  it('keeps to its limit of streams from the first SETTINGS on', async () => {
    const open = new Set<number>();
    let most = 0;
    const upstreamPort = await frameUpstream(
      bed,
      ({ type, streamId }, socket) => {
        if (type !== 'HEADERS') return;
        open.add(streamId);
        most = Math.max(most, open.size);
        setImmediate(() => {
          open.delete(streamId);
          socket.write(frame('HEADERS', WHOLE, streamId, block([':status', '200'])));
        });
      },
      settings(3, 1),
    );
    await bed.install(to(upstreamPort, { maxConnsPerHost: 1 }));
    const client = connect();
    await client.ask({ ':path': '/' });
    most = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.ask({ ':path': '/' })));
    expect(answers.every(({ status }) => status === 200)).to.equal(true);
    expect(most).to.equal(1);
  });

  // Each request opened another connection, which stayed for as long as an idle one may.
  for (const maxConnsPerHost of [0, 2])
    it(`that allows no stream at all gets no more connections than requests (of at most ${maxConnsPerHost})`, async () => {
      const open = new Set<Socket>();
      const upstreamPort = await frameUpstream(
        bed,
        ({ type, streamId }, socket) => {
          if (type !== 'HEADERS') return;
          open.add(socket);
          socket.once('close', () => open.delete(socket));
          socket.write(frame('RST_STREAM', 0, streamId, uint32(7)));
        },
        settings(3, 0),
      );
      await bed.install(to(upstreamPort, { maxConnsPerHost }));
      const client = connect();
      for (let count = 0; count < 10; count++) {
        const { status, body } = await client.ask({ ':path': '/' });
        expect(status).to.equal(502);
        expect(JSON.parse(body)).to.include({ error: 'connection_reset' });
      }
      await eventually(() => expect(open.size).to.equal(0));
    });

  it('that allows no stream for a while gets requests on another connection, and finishes open ones', async () => {
    const responses: (() => void)[] = [];
    const upstream = await http2Upstream(bed, (stream) => {
      stream.respond();
      responses.push(() => stream.end('over'));
    });
    await bed.install(to(upstream.port));
    const client = connect();
    const first = client.ask({ ':path': '/' });
    await eventually(() => expect(responses).to.have.length(1));
    const [session] = upstream.sessions;
    await new Promise<void>((resolve) => session?.settings({ maxConcurrentStreams: 0 }, () => resolve()));
    const second = client.ask({ ':path': '/' });
    await eventually(() => expect(responses).to.have.length(2));
    expect(upstream.sessions.size).to.equal(2);
    for (const respond of responses) respond();
    expect((await first).body).to.equal('over');
    expect((await second).body).to.equal('over');
    await eventually(() =>
      expect([...upstream.sessions])
        .to.have.length(1)
        .and.not.include(session),
    );
  });
});
