// Clients of HTTP/2 in front of upstreams of HTTP/1.1, on real sockets: what a client of HTTP/1.1 would get they get,
// each stream for itself.
import { once } from 'node:events';
import http2 from 'node:http2';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { request as fetchByHttp1 } from 'undici';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { answerOf, Http2Client } from '../../../support/http2-client.ts';
import { framesIn } from '../../../support/http2-frames.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';

const { constants } = http2;

describe('a listener that speaks HTTP/2', () => {
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

  const connect = (): Http2Client => {
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    clients.push(client);
    return client;
  };
  const forwardTo = (upstreamPort: number, listener: object = {}, forward: object = {}): Partial<Configuration> => ({
    listeners: [{ id: 'l', name: 'l', port, http2: true, ...listener }],
    destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstreamPort }],
    routes: [
      { id: 'a', name: 'a', match: { path: '/own' }, directResponse: { status: 200, body: 'own' } },
      { id: 'r', name: 'r', match: {}, forward: { destinations: [{ destinationId: 'd' }], ...forward } },
    ],
  });

  it('serves both versions on one port, also when their first bytes arrive slowly', async () => {
    await bed.install(forwardTo(1));
    expect((await connect().ask({ ':path': '/own' })).body).to.equal('own');
    expect(await (await fetchByHttp1(`http://127.0.0.1:${port}/own`)).body.text()).to.equal('own');
    const slow = await bed.wire(port);
    for (const byte of 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0') slow.send(byte);
    await eventually(() => expect(framesIn(Buffer.from(slow.received, 'latin1'))[0]?.type).to.equal('SETTINGS'));
    const other = await bed.wire(port);
    other.send('P');
    other.send('OST /own HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
    await other.until(/^HTTP\/1\.1 200 OK/);
  });

  it('forwards head, body and trailers of both messages', async () => {
    let seen: Record<string, unknown> = {};
    const upstreamPort = await bed.upstream((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen = { ...request.headers, url: request.url, method: request.method, trailer: request.trailers['x-after'] };
        response.writeHead(201, {
          'X-Seen': 'yes',
          'Set-Cookie': ['a=1', 'b=2'],
          Trailer: 'X-Sum',
          Connection: 'x-gone',
          'X-Gone': '1',
        });
        response.write(Buffer.concat(chunks));
        response.addTrailers({ 'X-Sum': '7' });
        response.end();
      });
    });
    await bed.install(forwardTo(upstreamPort));
    const client = connect();
    const stream = client.session.request(
      {
        ':method': 'POST',
        ':path': '/a//b/../c?d=e',
        cookie: ['a=b', 'c=d'],
        te: 'trailers',
        'x-forwarded-for': '6.6.6.6',
      },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-after': 'z' }));
    const answer = answerOf(stream);
    stream.end('hello');
    const { status, headers, body, trailers } = await answer;
    expect([status, body, trailers['x-sum']]).to.deep.equal([201, 'hello', '7']);
    expect(headers['set-cookie']).to.deep.equal(['a=1', 'b=2']);
    expect(headers).to.not.have.any.keys('connection', 'transfer-encoding', 'keep-alive', 'x-gone');
    expect(seen).to.include({
      ...{ url: '/a/c?d=e', method: 'POST', host: `127.0.0.1:${port}`, cookie: 'a=b; c=d', te: 'trailers' },
      ...{ 'transfer-encoding': 'chunked', 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http', trailer: 'z' },
    });
  });

  it('passes on interim responses, HEAD, 204, and sends 100 for bodies that are held back', async () => {
    const upstreamPort = await bed.upstream((request, response) => {
      if (request.url === '/early') response.writeEarlyHints({ link: '</a>; rel=preload' });
      if (request.url === '/none') response.writeHead(204);
      else response.setHeader('content-length', 4);
      request.resume();
      request.on('end', () => response.end(request.url === '/none' ? undefined : 'body'));
    });
    await bed.install(forwardTo(upstreamPort));
    const client = connect();
    const early = await client.ask({ ':path': '/early' });
    expect([early.interim, early.status, early.body]).to.deep.equal([[103], 200, 'body']);
    const head = await client.ask({ ':path': '/', ':method': 'HEAD' });
    expect([head.status, head.headers['content-length'], head.body]).to.deep.equal([200, '4', '']);
    expect((await client.ask({ ':path': '/none' })).status).to.equal(204);
    const stream = client.open({ ':path': '/', ':method': 'PUT', expect: '100-continue' });
    const answer = answerOf(stream);
    stream.on('continue', () => stream.end('at last'));
    expect((await answer).interim).to.deep.equal([100]);
  });

  it('refuses CONNECT, two hosts and no route, and keeps the connection', async () => {
    await bed.install({ ...forwardTo(1), routes: [] });
    const client = connect();
    const tunnel = await client.ask({ ':method': 'CONNECT', ':authority': 'x:25' });
    expect([tunnel.status, JSON.parse(tunnel.body).error]).to.deep.equal([405, 'method_not_allowed']);
    const hosts = await client.ask({ ':path': '/', ':authority': 'a.test', host: 'b.test' });
    expect([hosts.status, JSON.parse(hosts.body).error]).to.deep.equal([400, 'bad_request']);
    const user = await client.ask({ ':path': '/', ':authority': 'u@a.test' });
    expect(user.status).to.equal(400);
    const lost = await client.ask({ ':path': '/' }, 'with a body');
    expect([lost.status, JSON.parse(lost.body).error]).to.deep.equal([404, 'no_route']);
    const large = await client.ask({
      ':path': '/',
      ...Object.fromEntries(Array.from({ length: 140 }, (_, i) => [`x-${i}`, 'y'])),
    });
    expect([large.status, JSON.parse(large.body).error]).to.deep.equal([431, 'request_headers_too_large']);
    expect(client.closed).to.equal(false);
  });

  it('refuses a too large head in the form of gRPC, with its content-type in any place', async () => {
    await bed.install(forwardTo(1));
    const many = Object.fromEntries(Array.from({ length: 140 }, (_, i) => [`x-${i}`, 'y']));
    const head = { ':method': 'POST', ':path': '/pkg.Service/Call' };
    const grpc = { 'content-type': 'application/grpc' };
    for (const fields of [
      { ...head, ...grpc, ...many },
      { ...head, ...many, ...grpc },
    ]) {
      const { status, headers, body } = await connect().ask(fields);
      expect([status, headers['grpc-status'], body]).to.deep.equal([200, '3', '']);
      expect(headers['grpc-message']).to.equal('request_headers_too_large: request headers too large');
    }
  });

  it('refuses requests in the form of gRPC', async () => {
    await bed.install({ ...forwardTo(await freePort()), routes: forwardTo(1).routes?.slice(1) ?? [] });
    const { status, headers, body } = await connect().ask(
      { ':method': 'POST', ':path': '/pkg.Service/Call', 'content-type': 'application/grpc+proto', te: 'trailers' },
      'message',
    );
    expect([status, body, headers['grpc-status'], headers['content-type']]).to.deep.equal([
      200,
      '',
      '14',
      'application/grpc',
    ]);
    expect(headers['grpc-message']).to.match(/^connection_refused: /);
  });

  it('resets the upstream with the stream, and the stream with the upstream', async () => {
    let aborted = 0;
    const upstreamPort = await bed.upstream((request, response) => {
      request.on('close', () => {
        if (!response.writableFinished) aborted++;
      });
      if (request.url === '/cut') response.write('part', () => response.destroy());
    });
    await bed.install(forwardTo(upstreamPort));
    const client = connect();
    const stream = client.open({ ':path': '/wait' }, true);
    await eventually(() => expect(client.session.state.outboundQueueSize).to.equal(0));
    const upstream = eventually(() => expect(aborted).to.equal(1));
    await new Promise((resolve) => setImmediate(resolve));
    stream.close(constants.NGHTTP2_CANCEL);
    await upstream;
    const cut = await client.ask({ ':path': '/cut' });
    expect(cut).to.include({ status: 200, body: 'part', code: constants.NGHTTP2_INTERNAL_ERROR });
    expect(client.closed).to.equal(false);
  });

  it('pauses only the upstream of a stream that the client does not read', async () => {
    const big = 8 * 1024 * 1024;
    let written = 0;
    const upstreamPort = await bed.upstream((request, response) => {
      if (request.url !== '/big') {
        response.end('small');
        return;
      }
      const chunk = Buffer.alloc(64 * 1024);
      const more = (): void => {
        while (written < big) {
          written += chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    await bed.install(forwardTo(upstreamPort));
    const client = connect();
    const slow = client.open({ ':path': '/big' }, true);
    await once(slow, 'response');
    for (let i = 0; i < 20; i++) expect((await client.ask({ ':path': '/small' })).body).to.equal('small');
    expect(written).to.be.lessThan(big);
    let read = 0;
    slow.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    await once(slow, 'close');
    expect(read).to.equal(big);
  });

  it('holds back the client of a slow upstream', async () => {
    let go: (() => void) | undefined;
    const upstreamPort = await bed.upstream((request, response) => {
      let bytes = 0;
      go = () => {
        request.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        request.on('end', () => response.end(String(bytes)));
      };
    });
    await bed.install(forwardTo(upstreamPort));
    const client = connect();
    // More than the system keeps between proxy and upstream, which may be 36 MiB on a busy machine.
    const pieces = Array.from({ length: 64 }, () => Buffer.alloc(1024 * 1024, 7));
    const stream = client.open({ ':method': 'POST', ':path': '/' });
    const answer = answerOf(stream);
    Readable.from(pieces).pipe(stream);
    await eventually(() => expect(go).to.not.equal(undefined));
    const own = await client.ask({ ':path': '/own' });
    expect(own).to.include({ status: 200, body: 'own' });
    expect(stream.writableEnded).to.equal(false);
    go?.();
    expect((await answer).body).to.equal(String(64 * 1024 * 1024));
  });

  it('sends two GOAWAYs when it drains, and loses no request', async () => {
    let release = (): void => {};
    const upstreamPort = await bed.upstream((_request, response) => {
      release = () => response.end('late');
    });
    await bed.install(forwardTo(upstreamPort));
    const client = connect();
    const late = client.ask({ ':path': '/slow' });
    await eventually(() => expect(String(release)).to.include('late'));
    const closing = bed.install({ listeners: [] });
    await eventually(() => expect(client.goAways).to.have.length(2));
    expect(client.goAways).to.deep.equal([2 ** 31 - 1, 1]);
    release();
    expect((await late).body).to.equal('late');
    await closing;
    await eventually(() => expect(client.closed).to.equal(true));
  });

  it('carries WebSockets to upstreams of HTTP/1.1', async () => {
    let head = '';
    const upstream = await bed.rawUpstream((socket, request) => {
      head = request;
      socket.removeAllListeners('data');
      socket.on('data', (chunk: Buffer) => socket.write(`<${chunk}>`));
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-A: b\r\n' +
          'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nhello',
      );
    });
    await bed.install(forwardTo(upstream.port));
    const client = connect();
    await once(client.session, 'remoteSettings');
    expect(client.session.remoteSettings.enableConnectProtocol).to.equal(true);
    const stream = client.open({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/chat?x',
      'sec-websocket-version': '13',
    });
    let received = '';
    stream.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    const [headers] = await once(stream, 'response');
    expect(headers).to.include({ ':status': 200, 'x-a': 'b' });
    // Extended CONNECT has none (RFC 8441 §5).
    expect(headers).to.not.have.property('sec-websocket-accept');
    await eventually(() => expect(received).to.equal('hello'));
    stream.write('ping');
    await eventually(() => expect(received).to.equal('hello<ping>'));
    expect(head).to.match(/^GET \/chat\?x HTTP\/1\.1\r\n/);
    expect(head).to.match(/\r\nConnection: upgrade\r\nUpgrade: websocket\r\n/);
    expect(head).to.match(/\r\nSec-WebSocket-Key: [A-Za-z0-9+/]{22}==\r\n/i);
    for (const socket of upstream.sockets) socket.end();
    await once(stream, 'close');
    const other = await client.ask({ ':method': 'CONNECT', ':protocol': 'other', ':path': '/' });
    expect(other.status).to.equal(405);
  });

  it('aborts a tunnel that carries nothing for too long, and releases it', async () => {
    const upstream = await bed.rawUpstream((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    await bed.install(forwardTo(upstream.port, { timeouts: { idleTunnel: '200ms', idleBetweenRequests: '100ms' } }));
    const client = connect();
    await once(client.session, 'remoteSettings');
    const stream = client.open({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/' });
    const { status, code } = await answerOf(stream);
    expect([status, code]).to.deep.equal([200, constants.NGHTTP2_CONNECT_ERROR]);
    await eventually(() => expect(client.closed).to.equal(true));
    const byHttp1 = bed.wire(port);
    byHttp1.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await byHttp1.until(/101/);
    await byHttp1.untilClosed();
  });

  it('ends an idle connection', async () => {
    await bed.install(forwardTo(1, { timeouts: { clientHeader: '100ms', idleBetweenRequests: '150ms' } }));
    const silent = await bed.wire(port);
    await silent.untilClosed();
    const client = connect();
    await client.ask({ ':path': '/own' });
    await eventually(() => expect(client.closed).to.equal(true));
    expect(client.goAways).to.not.equal([]);
  });

  it('aborts a request whose body does not arrive, and no other', async () => {
    const upstreamPort = await bed.upstream((request, response) => request.on('end', () => response.end()).resume());
    await bed.install(forwardTo(upstreamPort, { timeouts: { clientRequest: '200ms' } }));
    const client = connect();
    const stalled = client.open({ ':method': 'POST', ':path': '/' });
    const answer = answerOf(stalled);
    stalled.write('part');
    expect((await answer).code).to.equal(constants.NGHTTP2_CANCEL);
    expect((await client.ask({ ':path': '/own' })).body).to.equal('own');
  });
});
