// Bodies (S17 and S19): they stream, a slow side holds back the other, and none is kept whole.
import { createServer } from 'node:http';
import { expect } from 'chai';
import { eventually, settled } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { Http2Client } from '../../support/http2-client.ts';
import { forwarding, listening, ProxyBed, rawExchange } from '../../support/proxy-bed.ts';

const megabyte = Buffer.alloc(1 << 20, 'x');

describe('a body', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  // Regression: after a request with `Content-Length: 0` its upstream connection stayed the target of the client's next
  // body until that body had a connection of its own: it went into the request of the connection's next user.
  it('goes with its own request, also behind one of no length whose connection another client has', async () => {
    const got = new Map<string, string>();
    const begun = new Set<string | undefined>();
    const upstream = await bed.upstream((request, response) => {
      begun.add(request.url);
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        got.set(request.url ?? '', Buffer.concat(chunks).toString());
        response.end(request.url);
      });
    });
    await bed.install(forwarding(port, upstream));
    const post = (path: string, length: number, body: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`;
    const [first, other] = [bed.wire(port), bed.wire(port)];
    for (let i = 0; i < 5; i++) {
      first.send(post(`/empty${i}`, 0, ''));
      await first.until(new RegExp(`/empty${i}$`));
      other.send(post(`/other${i}`, 10, 'other'));
      await eventually(() => expect(begun).to.include(`/other${i}`));
      first.send(post(`/first${i}`, 5, 'first'));
      await first.until(new RegExp(`/first${i}$`));
      other.send('wise.');
      await other.until(new RegExp(`/other${i}$`));
    }
    for (let i = 0; i < 5; i++) {
      expect([got.get(`/first${i}`), got.get(`/other${i}`)]).to.deep.equal(['first', 'otherwise.']);
    }
  });

  it('stops flowing from an upstream whose client does not read, and goes on when it does', async () => {
    let written = 0;
    const upstream = await bed.upstream((_request, response) => {
      const more = (): void => {
        if (written++ === 64) response.end();
        else if (response.write(megabyte)) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    await bed.install(forwarding(port, upstream));
    const wire = bed.wire(port);
    let bytes = 0;
    wire.socket.removeAllListeners('data').on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    wire.socket.pause();
    wire.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await eventually(() => expect(written).to.be.greaterThan(1));
    expect(await settled(() => written)).to.be.lessThan(40);
    wire.socket.resume();
    await wire.untilClosed();
    expect(bytes).to.be.greaterThan(64 << 20);
  });

  it('stops flowing from a client whose upstream does not read, and goes on when it does', async () => {
    let taken = 0;
    let read: (() => void) | undefined;
    const server = createServer((request, response) => {
      read = () => {
        request.on('data', (chunk: Buffer) => {
          taken += chunk.length;
        });
        request.on('end', () => response.end('all'));
      };
    });
    bed.atEnd(async () => server.closeAllConnections());
    bed.atEnd(async () => void server.close());
    await bed.install(forwarding(port, await listening(server)));
    const wire = bed.wire(port);
    wire.send(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${64 << 20}\r\n\r\n`);
    for (let i = 0; i < 64; i++) wire.socket.write(megabyte);
    await eventually(() => expect(read).to.not.equal(undefined));
    expect(await settled(() => wire.socket.writableLength)).to.be.greaterThan(20 << 20);
    read?.();
    expect(await wire.until(/all$/)).to.contain('200 OK');
    expect(taken).to.equal(64 << 20);
  });

  it('asked for again and again by a client that does not read is not fetched again and again', async () => {
    const body = 'x'.repeat(20_000);
    let asked = 0;
    const upstream = await bed.upstream((_request, response) => {
      asked++;
      response.end(body);
    });
    await bed.install(forwarding(port, upstream));
    const wire = bed.wire(port);
    wire.socket.pause();
    const requests = 3_000;
    wire.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(requests));
    await eventually(() => expect(asked).to.be.greaterThan(10));
    expect(await settled(() => asked)).to.be.lessThan(requests / 2);
    wire.socket.resume();
    await eventually(() => expect(asked).to.equal(requests));
  });

  it('of no bytes is told to an upstream of HTTP/1.1 with POST, PUT and PATCH from clients of both versions', async () => {
    const upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    await bed.install(forwarding(port, upstream.port, { listener: { http2: true } }));
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    bed.atEnd(async () => client.close());
    for (const [method, lengths] of [
      ['POST', 1],
      ['PUT', 1],
      ['PATCH', 1],
      ['GET', 0],
      ['DELETE', 0],
      ['HEAD', 0],
    ] as const) {
      for (const length of ['', 'Content-Length: 0\r\n']) {
        await rawExchange(port, `${method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${length}\r\n`);
        const found = upstream.requests.at(-1)?.match(/^content-length: 0\r$/gim) ?? [];
        expect(found, `${method} ${length}`).to.have.length(length === '' ? lengths : 1);
      }
      await client.ask({ ':method': method, ':path': '/' });
      expect(upstream.requests.at(-1)?.match(/^content-length: 0\r$/gim) ?? [], method).to.have.length(lengths);
    }
  });

  it('that is the last of its connection reaches a slow client whole', async () => {
    const upstream = await bed.upstream((_request, response) => void response.end(Buffer.alloc(8 << 20, 'x')));
    await bed.install(forwarding(port, upstream));
    const wire = bed.wire(port);
    let bytes = 0;
    wire.socket.removeAllListeners('data').on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      wire.socket.pause();
      setTimeout(() => wire.socket.resume(), bytes > 7 << 20 ? 60 : 0);
    });
    wire.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await wire.untilClosed(8_000);
    expect(bytes).to.be.greaterThan(8 << 20);
  });

  it('of many small chunks arrives whole', async () => {
    const upstream = await bed.upstream((request, response) => request.pipe(response));
    await bed.install(forwarding(port, upstream));
    const wire = bed.wire(port);
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n');
    wire.send(`${'1\r\na\r\n'.repeat(20_000)}0\r\n\r\n`);
    const answer = await wire.untilClosed();
    expect(answer.slice(answer.indexOf('\r\n\r\n')).match(/a/g)).to.have.length(20_000);
  });

  it('that its upstream answers before it is whole does not spoil the next request', async () => {
    const upstream = await bed.rawUpstream((socket) =>
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno'),
    );
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nabcd');
    await wire.until(/no$/);
    wire.send('efghGET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect((await wire.untilClosed()).match(/413/g)).to.have.length(2);
    expect(upstream.requests[1]).to.match(/^GET \/2 /);
    expect(upstream.connections).to.equal(2);
  });

  it('that has gone silent ends soon after its client has gone', async () => {
    const upstream = await bed.rawUpstream((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n'),
    );
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await wire.until(/a\r\n$/);
    wire.destroy();
    await eventually(() => expect(upstream.sockets.size).to.equal(0));
  });

  it('of a thousand clients that trickle or do not read is reaped on schedule while others are served', async () => {
    const large = Buffer.alloc(48 << 20, 'x');
    let cut = 0;
    const upstream = await bed.upstream(({ url }, response) => {
      response.on('close', () => {
        if (!response.writableFinished) cut++;
      });
      response.end(url === '/large' ? large : 'ok');
    });
    const timeouts = { clientHeader: '1s', clientRequest: '1s', clientResponse: '1s' };
    await bed.install(forwarding(port, upstream, { listener: { timeouts } }));
    const slow = Array.from({ length: 992 }, (_, i) => {
      const wire = bed.wire(port);
      wire.send(i % 2 === 0 ? 'GET / HT' : 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n');
      return wire;
    });
    const deaf = Array.from({ length: 8 }, () => {
      const wire = bed.wire(port);
      wire.socket.removeAllListeners('data').pause();
      wire.send('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
      return wire;
    });
    const trickle = setInterval(() => {
      for (const wire of slow) wire.send('x');
    }, 100);
    bed.atEnd(async () => clearInterval(trickle));
    const normal = bed.wire(port);
    normal.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await normal.until(/ok$/);
    for (const wire of slow) await wire.untilClosed(8_000);
    // A client that listened again earlier would get everything.
    await eventually(() => expect(cut).to.equal(deaf.length));
    for (const wire of deaf) {
      wire.socket.resume();
      await wire.untilClosed(8_000);
      expect(wire.socket.bytesRead).to.be.lessThan(large.length);
    }
  });
});
