// WebSockets to destinations of HTTP/2 (RFC 8441): by extended CONNECT where the upstream announces it, else over
// HTTP/1.1 where TLS lets the upstream choose that, else not at all, and the client is told why.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http2, { type ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { Http2Client } from '../../../support/http2-client.ts';
import { block, END_HEADERS, frame, framesIn, settings } from '../../../support/http2-frames.ts';
import { http2Upstream } from '../../../support/http2-upstream.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { forwarding, listening, ProxyBed, type RawClient } from '../../../support/proxy-bed.ts';

const key = 'dGhlIHNhbXBsZSBub25jZQ==';
const accept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
const upgrade =
  'GET /chat?x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: a\r\n\r\n`;
const announcing = { settings: { enableConnectProtocol: true } };

describe('a WebSocket to a destination of HTTP/2', () => {
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

  const serve = (upstreamPort: number, options: object = {}, listener: object = {}) =>
    bed.install(
      forwarding(port, upstreamPort, {
        listener: { http2: true, ...listener },
        destination: { options: { http2: true, ...options } },
      }),
    );
  const byHttp1 = (): RawClient => {
    const wire = bed.wire(port);
    wire.send(upgrade);
    return wire;
  };
  const byHttp2 = async (more: Record<string, string> = {}) => {
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    clients.push(client);
    await once(client.session, 'remoteSettings');
    const stream = client.open({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/chat?x',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'a',
      ...more,
    });
    const heard = { text: '', ended: false };
    stream.on('data', (chunk: Buffer) => {
      heard.text += chunk.toString('latin1');
    });
    stream.on('end', () => {
      heard.ended = true;
    });
    return { stream, heard };
  };
  const echo = (stream: ServerHttp2Stream): void => {
    stream.respond({ ':status': 200, 'sec-websocket-protocol': 'a' });
    stream.pipe(stream);
  };

  /** Behind the proxy: an upstream of HTTP/2 that sends back what it gets; `seen` are the fields of the last stream. */
  const echoing = async () => {
    let last: Record<string, unknown> = {};
    const upstream = await http2Upstream(
      bed,
      (stream, headers) => {
        last = headers;
        echo(stream);
      },
      announcing,
    );
    await serve(upstream.port);
    return { upstream, seen: () => last };
  };

  it('is an extended CONNECT, whose acceptance a client of HTTP/1.1 sees as 101 with the proof it asked for', async () => {
    const { upstream, seen } = await echoing();
    const wire = byHttp1();
    await wire.until(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n$/);
    expect(createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')).to.equal(accept);
    expect(wire.received).to.include(`\r\nSec-WebSocket-Accept: ${accept}\r\n`);
    expect(wire.received).to.match(/\r\nConnection: upgrade\r\nUpgrade: websocket\r\n/);
    expect(wire.received).to.match(/\r\nsec-websocket-protocol: a\r\n/);
    expect(seen()).to.include({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/chat?x',
      ':authority': 'x',
      ':scheme': 'http',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'a',
      'x-forwarded-for': '127.0.0.1',
    });
    expect(seen()).to.not.have.any.keys('sec-websocket-key', 'upgrade', 'connection');
    const head = wire.received.length;
    const bytes = 'x'.repeat(1 << 20);
    for (let i = 0; i < 3; i++) wire.send(bytes);
    await eventually(() => expect(wire.received.length).to.equal(head + 3 * bytes.length));
    wire.socket.end();
    await wire.untilClosed();
    await eventually(() => expect([...upstream.sessions].length).to.equal(1));
  });

  it('carries no proof of HTTP/1.1 that its upstream made up', async () => {
    const upstream = await http2Upstream(
      bed,
      (stream) => stream.respond({ ':status': 200, 'sec-websocket-accept': 'made-up' }),
      announcing,
    );
    await serve(upstream.port);
    const { stream } = await byHttp2();
    const [headers] = await once(stream, 'response');
    expect(headers).to.not.have.property('sec-websocket-accept');
    const wire = byHttp1();
    await wire.until(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n$/);
    expect(wire.received.match(/sec-websocket-accept: .*/gi)).to.deep.equal([`Sec-WebSocket-Accept: ${accept}`]);
  });

  it('whose handshake says that it has no body is a stream without an end all the same', async () => {
    const { seen } = await echoing();
    const wire = bed.wire(port);
    wire.send(upgrade.replace('Host: x', 'Host: x\r\nContent-Length: 0'));
    await wire.until(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n$/);
    expect(seen()).to.not.have.property('content-length');
    wire.send('more');
    await wire.until(/more$/);
  });

  it('goes from HTTP/2 to HTTP/2', async () => {
    const upstream = await http2Upstream(bed, echo, announcing);
    await serve(upstream.port);
    const { stream, heard } = await byHttp2();
    const [headers] = await once(stream, 'response');
    expect(headers).to.include({ ':status': 200, 'sec-websocket-protocol': 'a' });
    expect(headers).to.not.have.property('sec-websocket-accept');
    stream.write('y'.repeat(300_000));
    await eventually(() => expect(heard.text.length).to.equal(300_000));
    stream.end('bye');
    await once(stream, 'close');
    expect([heard.text.length, heard.ended, stream.rstCode]).to.deep.equal([300_003, true, 0]);
  });

  it('ends with its client, and with its upstream, alone on their connection', async () => {
    const streams: ServerHttp2Stream[] = [];
    const upstream = await http2Upstream(
      bed,
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.resume().on('end', () => stream.end());
        streams.push(stream);
      },
      announcing,
    );
    await serve(upstream.port);
    const first = byHttp1();
    await first.until(/101/);
    const second = byHttp1();
    await second.until(/101/);
    const third = byHttp1();
    await third.until(/101/);
    first.destroy();
    await eventually(() => expect(streams[0]?.destroyed).to.equal(true));
    streams[1]?.end();
    await second.untilClosed();
    streams[2]?.close(2);
    await third.untilClosed();
    expect(upstream.opened).to.equal(1);
  });

  it('waits for the upstream’s SETTINGS', async () => {
    let say: (() => void) | undefined;
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        say = () => socket.write(settings(8, 1));
        socket.on('data', (chunk: Buffer) => {
          for (const { type, streamId } of framesIn(chunk))
            if (type === 'HEADERS') socket.write(frame('HEADERS', END_HEADERS, streamId, block([':status', '200'])));
        });
      });
      bed.atEnd(async () => void socket.destroy());
    });
    const upstreamPort = await listening(server);
    bed.atEnd(async () => void server.close());
    await serve(upstreamPort, { timeouts: { responseHeader: '20s' } });
    const wire = byHttp1();
    await eventually(() => expect(say).to.not.equal(undefined));
    expect(wire.received).to.equal('');
    say?.();
    await wire.until(/^HTTP\/1\.1 101 /);
  });

  it('that the upstream refuses gets the upstream’s response', async () => {
    const upstream = await http2Upstream(
      bed,
      (stream) => {
        stream.respond({ ':status': 403 });
        stream.end('no');
      },
      announcing,
    );
    await serve(upstream.port);
    const wire = byHttp1();
    await wire.until(/^HTTP\/1\.1 403 [\s\S]*\r\n\r\n/);
    const { stream } = await byHttp2();
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).to.equal(403);
  });

  it('that an HTTP/1.1 upstream answers with 200 is not accepted: 502 to HTTP/2, where 200 would accept it', async () => {
    const upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno'));
    await serve(upstream.port, { http2: false });
    const { stream, heard } = await byHttp2();
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).to.equal(502);
    await eventually(() => expect(heard.text).to.match(/"error":"bad_response".*200 to a WebSocket/));
    await byHttp1().until(/^HTTP\/1\.1 200 [\s\S]*no$/);
  });

  it('that Sluice itself answers with 2xx is not accepted: 502 to HTTP/2, for any content type', async () => {
    const config = forwarding(port, await freePort(), { listener: { http2: true } });
    const directResponse = { status: 200, body: 'hello' };
    await bed.install({ ...config, routes: [{ id: 'r', name: 'r', match: {}, directResponse }] } as typeof config);
    for (const type of ['text/plain', 'application/grpc']) {
      const { stream, heard } = await byHttp2({ 'content-type': type });
      const [headers] = await once(stream, 'response');
      expect(headers[':status']).to.equal(502);
      await eventually(() => expect(heard.text).to.match(/"error":"bad_response".*200 to a WebSocket/));
    }
    await byHttp1().until(/^HTTP\/1\.1 200 [\s\S]*hello$/);
  });

  it('without an announcement in cleartext is 502 bad_response, with the reason', async () => {
    const upstream = await http2Upstream(bed, echo);
    await serve(upstream.port);
    const wire = byHttp1();
    await wire.until(/^HTTP\/1\.1 502 [\s\S]*"error":"bad_response"[\s\S]*extended CONNECT/);
  });

  it('without an announcement goes over HTTP/1.1 where TLS lets the upstream choose that', async () => {
    const { cert, key: privateKey } = makeCertificate({ addresses: ['127.0.0.1'] });
    const server = http2.createSecureServer({ cert, key: privateKey, allowHTTP1: true });
    server.on('upgrade', (_request, socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.pipe(socket);
    });
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.respond({ ':status': 200 });
      stream.end('by HTTP/2');
    });
    const upstreamPort = await listening(server as never);
    bed.atEnd(async () => void server.close());
    await serve(upstreamPort, { tls: { mode: 'tls', ca: cert }, maxConnsPerHost: 2 });
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    clients.push(client);
    expect((await client.ask({ ':path': '/' })).body).to.equal('by HTTP/2');
    const wire = byHttp1();
    await wire.until(/^HTTP\/1\.1 101 /);
    const head = wire.received.length;
    wire.send('z'.repeat(100_000));
    await eventually(() => expect(wire.received.length).to.equal(head + 100_000));
    expect((await client.ask({ ':path': '/' })).body).to.equal('by HTTP/2');
    wire.destroy();
  });

  it('without a choice in TLS is 502 bad_response, with the reason', async () => {
    const { cert, key: privateKey } = makeCertificate({ addresses: ['127.0.0.1'] });
    const upstream = await http2Upstream(bed, echo, { cert, key: privateKey });
    await serve(upstream.port, { tls: { mode: 'tls', ca: cert } });
    const wire = byHttp1();
    await wire.until(/^HTTP\/1\.1 502 [\s\S]*"error":"bad_response"[\s\S]*extended CONNECT/);
  });

  it('is aborted by idleTunnel on both sides', async () => {
    let closed = 0;
    const upstream = await http2Upstream(
      bed,
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.resume();
        stream.on('close', () => closed++);
      },
      announcing,
    );
    await serve(upstream.port, {}, { timeouts: { idleTunnel: '200ms' } });
    const wire = byHttp1();
    await wire.until(/101/);
    await wire.untilClosed();
    const { stream } = await byHttp2();
    await eventually(() => expect(stream.closed).to.equal(true));
    await eventually(() => expect(closed).to.equal(2));
  });
});
