// S04: what an upstream may not say, and what makes its connection unfit for the next request.
import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { forwarding, listening, ProxyBed, rawExchange } from '../../support/proxy-bed.ts';
import { refusedResponses } from '../../support/refused-responses.ts';

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
const ok = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('an upstream connection', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  /** Answers the first request with `first` and the rest properly, by path. */
  const upstreamSaying = async (first: string, options = {}) => {
    let asked = 0;
    const upstream = await bed.rawUpstream((socket, request) => {
      const path = request.split(' ')[1] ?? '';
      socket.write(Buffer.from(asked++ === 0 ? first : ok(path), 'latin1'));
    });
    await bed.install(forwarding(port, upstream.port, options));
    return upstream;
  };

  for (const [text, message] of [
    [`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(1_100_000)}\r\n\r\n`, 'response headers too large'],
    [`HTTP/1.1 103 Hint\r\nX: ${'a'.repeat(10_000)}\r\n\r\n`.repeat(110), 'too many interim responses'],
    [`HTTP/1.1 200 ${'a'.repeat(20_000)}\r\n\r\n`, 'status line too long'],
  ] as const) {
    it(`that says too much is told of in words: ${message}`, async () => {
      await upstreamSaying(text);
      expect(await rawExchange(port, get('/1'))).to.contain(
        `"error":"bad_response","status":502,"message":"${message}"`,
      );
    });
  }

  for (const [name, text] of refusedResponses) {
    it(`is given up after ${name}, and the client gets 502`, async () => {
      const upstream = await upstreamSaying(`${text}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`);
      const answer = await rawExchange(port, get('/1'));
      expect(answer).to.match(/^HTTP\/1\.1 502 [\s\S]*"error":"bad_response"/);
      expect(answer).not.to.contain('poison');
      expect(await rawExchange(port, get('/2'))).to.match(/\/2$/);
      expect(upstream.connections).to.equal(2);
    });
  }

  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const unreadableChunks: readonly (readonly [string, string])[] = [
    ['a chunk size that is none', 'zz\r\nhello\r\n0\r\n\r\n'],
    ['a chunk size that overflows', 'fffffffffffffffff\r\nhello'],
    ['a chunk longer than its size', '3\r\nhello\r\n0\r\n\r\n'],
    ['a second chunk that is none', '5\r\nhello\r\n-1\r\n'],
  ];
  for (const [name, body] of unreadableChunks) {
    it(`is given up after ${name} that came with the head, and the client gets 502 and is not cut`, async () => {
      const upstream = await upstreamSaying(chunked + body);
      expect(await rawExchange(port, get('/1'))).to.match(/^HTTP\/1\.1 502 [\s\S]*"error":"bad_response"/);
      expect(await rawExchange(port, get('/2'))).to.match(/\/2$/);
      expect(upstream.connections).to.equal(2);
    });
  }

  it('is used again after a plain response', async () => {
    const upstream = await upstreamSaying(ok('/1'));
    for (const path of ['/1', '/2', '/3']) expect(await rawExchange(port, get(path))).to.match(new RegExp(`${path}$`));
    expect(upstream.connections).to.equal(1);
  });

  const unfit: readonly (readonly [string, string])[] = [
    ['bytes behind its body', `${ok('/1')}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`],
    ['bytes behind the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n/1\r\n0\r\n\r\npoison'],
    ['Connection: close', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n/1'],
    ['HTTP/1.0 without keep-alive', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n/1'],
    ['a 204 that announces a body', 'HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\npoison'],
  ];
  for (const [name, text] of unfit) {
    it(`is not used again after ${name}`, async () => {
      const upstream = await upstreamSaying(text);
      const first = await rawExchange(port, get('/1'));
      expect(first).to.match(/^HTTP\/1\.1 20[04] /);
      expect(first).not.to.contain('poison');
      expect(await rawExchange(port, get('/2'))).to.match(/\/2$/);
      expect(upstream.connections).to.equal(2);
    });
  }

  it('is not used again when it speaks while idle', async () => {
    const upstream = await upstreamSaying(ok('/1'));
    await rawExchange(port, get('/1'));
    for (const socket of upstream.sockets) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison');
    await eventually(() => expect(upstream.sockets.size).to.equal(0));
    expect(await rawExchange(port, get('/2'))).to.match(/\/2$/);
  });

  it('that ends within a body cuts the response so that the client can tell', async () => {
    let asked = 0;
    const upstream = await bed.rawUpstream((socket) => {
      socket.end(
        asked++ === 0
          ? 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort'
          : 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort',
      );
    });
    await bed.install(forwarding(port, upstream.port));
    expect(await rawExchange(port, get('/'))).not.to.match(/short....$/);
    expect(await rawExchange(port, get('/'))).not.to.match(/0\r\n\r\n$/);
  });

  it('that was closed while idle is replaced without the client noticing', async () => {
    let last = '';
    const upstream = await bed.rawUpstream((socket, request) => {
      const path = request.split(' ')[1] ?? '';
      // The second request on a connection finds it closing.
      if (last !== '' && upstream.connections === 1) socket.resetAndDestroy();
      else socket.write(ok(path));
      last = path;
    });
    await bed.install(forwarding(port, upstream.port));
    expect(await rawExchange(port, get('/1'))).to.match(/\/1$/);
    expect(await rawExchange(port, get('/2'))).to.match(/\/2$/);
    expect(upstream.connections).to.equal(2);
  });

  it('that was closed while idle is replaced for a PUT and a DELETE, with their bodies', async () => {
    const kept = new Set<Socket>();
    const bodies: string[] = [];
    const server = createServer((socket) => {
      let received = '';
      socket.on('error', () => {});
      socket.on('data', (bytes: Buffer) => {
        received += bytes.toString('latin1');
        const [head = '', body = ''] = received.split('\r\n\r\n');
        if (!received.includes('\r\n\r\n') || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0))
          return;
        received = '';
        // The second request on a connection finds it closing.
        if (kept.has(socket)) socket.resetAndDestroy();
        else socket.write(ok('/'));
        if (!kept.has(socket)) bodies.push(body);
        kept.add(socket);
      });
    });
    bed.atEnd(async () => void server.close());
    await bed.install(forwarding(port, await listening(server)));
    for (const [method, body] of [
      ['PUT', 'new'],
      ['DELETE', ''],
      ['PUT', 'x'.repeat(60_000)],
    ] as const) {
      await rawExchange(port, get('/'));
      const fields = `Host: x\r\nConnection: close\r\nContent-Length: ${body.length}`;
      expect(await rawExchange(port, `${method} / HTTP/1.1\r\n${fields}\r\n\r\n${body}`), method).to.match(/ 200 OK/);
      expect(bodies.at(-1), method).to.equal(body);
      for (const socket of kept) socket.destroy();
    }
  });

  it('closes before its upstream does, where that says when', async () => {
    await bed.end();
    const clock = new ManualClock();
    bed = new ProxyBed({ clock });
    for (const [keepAlive, lastsMs] of [
      ['timeout=5, max=100', 3_800],
      ['max=100, Timeout=1', 300],
      ['timeout=soon', 80_000],
      ['max=9', 80_000],
    ] as const) {
      const upstream = await bed.rawUpstream((socket) =>
        socket.write(`HTTP/1.1 200 OK\r\nKeep-Alive: ${keepAlive}\r\nContent-Length: 2\r\n\r\nok`),
      );
      await bed.install(forwarding(port, upstream.port));
      await rawExchange(port, get('/1'));
      clock.advance(lastsMs);
      await rawExchange(port, get('/2'));
      expect(upstream.connections, keepAlive).to.equal(1);
      if (lastsMs === 80_000) continue;
      await eventually(() => {
        clock.advance(50);
        expect(upstream.sockets.size, keepAlive).to.equal(0);
      });
    }
  });

  it('that closes after each response, as it says, is not used again', async () => {
    const upstream = await upstreamSaying('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 2\r\n\r\n/1');
    expect(await rawExchange(port, get('/1'))).to.match(/\/1$/);
    expect(await rawExchange(port, get('/2'))).to.match(/\/2$/);
    expect(upstream.connections).to.equal(2);
  });

  it('that ends without a word is no reason to send a POST twice', async () => {
    let posts = 0;
    const upstream = await bed.rawUpstream((socket, request) => {
      if (request.startsWith('GET')) socket.write(ok('/'));
      else {
        posts++;
        socket.destroy();
      }
    });
    await bed.install(forwarding(port, upstream.port));
    await rawExchange(port, get('/'));
    const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\na';
    expect(await rawExchange(port, post)).to.match(/502 [\s\S]*"error":"connection_reset"/);
    expect(posts).to.equal(1);
  });

  it('that gives no response header in time is given up: 504', async () => {
    const upstream = await bed.rawUpstream(() => {});
    const destination = { options: { timeouts: { responseHeader: '100ms' } } };
    await bed.install(forwarding(port, upstream.port, { destination }));
    expect(await rawExchange(port, get('/'))).to.match(/504 [\s\S]*"error":"timeout"/);
    await eventually(() => expect(upstream.sockets.size).to.equal(0));
  });

  it('is closed after idleConnection', async () => {
    const upstream = await upstreamSaying(ok('/1'), {
      destination: { options: { timeouts: { idleConnection: '100ms' } } },
    });
    await rawExchange(port, get('/1'));
    expect(upstream.sockets.size).to.equal(1);
    await eventually(() => expect(upstream.sockets.size).to.equal(0));
  });

  it('is one of at most maxConnsPerHost; further requests wait in order, or get an error when too many wait', async () => {
    let open = 0;
    let most = 0;
    const order: string[] = [];
    let held: (() => void)[] | undefined = [];
    const upstream = await bed.upstream((request, response) => {
      most = Math.max(most, ++open);
      order.push(request.url ?? '');
      const answer = (): void => {
        open--;
        response.end('ok');
      };
      if (held === undefined) answer();
      else held.push(answer);
    });
    const options = { maxConnsPerHost: 2, circuitBreaker: { maxPendingRequests: 4 } };
    await bed.install(forwarding(port, upstream, { destination: { options } }));
    const statuses: string[] = [];
    const answers = [];
    for (let i = 0; i < 8; i++) {
      answers.push(rawExchange(port, get(`/${i}`)).then((answer) => statuses.push(answer.slice(9, 12))));
      await new Promise((resolve) => setImmediate(resolve));
    }
    // No request is answered before the two without a place have got their error.
    await eventually(() => expect([statuses, held?.length]).to.deep.equal([['503', '503'], 2]));
    const waiting = held;
    held = undefined;
    for (const answer of waiting) answer();
    await Promise.all(answers);
    expect(statuses.filter((status) => status === '200')).to.have.length(6);
    expect(most).to.equal(2);
    expect(order).to.deep.equal(order.toSorted());
  });
});
