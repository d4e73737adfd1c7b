// All sockets of a thread read into the same bytes: what one brought must be out of them before the next one reads.
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import { acceptHandles } from '../../../src/proxy/socket/accepting.ts';
import { TcpSocket } from '../../../src/proxy/socket/tcp-socket.ts';
import { freePort } from '../../support/free-port.ts';
import { forwarding, listening, ProxyBed } from '../../support/proxy-bed.ts';

const letters = [...'abcdefgh'];
/** More than the system keeps for a connection whose other end does not read. */
const bodyBytes = 12 << 20;
const pauseMs = 200;

/** Once the stream begins to be read, after a while: how much comes, and how much of that is not the letter. */
function takeLate(stream: Readable, letter: string): { right: number; wrong: number } {
  const seen = { right: 0, wrong: 0 };
  const letterBytes = Buffer.alloc(1 << 20, letter);
  stream.removeAllListeners('data').on('data', (chunk: Buffer) => {
    if (letterBytes.subarray(0, chunk.length).equals(chunk)) seen.right += chunk.length;
    else seen.wrong += chunk.length;
  });
  stream.pause();
  setTimeout(() => stream.resume(), pauseMs);
  return seen;
}

describe('bytes that all sockets of a thread read into', () => {
  // A hundred megabytes go through; a busy machine takes its time.
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  it('are the same for every accepted connection', async () => {
    const server = createServer();
    const serverPort = await listening(server);
    bed.atEnd(async () => void server.close());
    const arrived: { bytes: Buffer; text: string }[] = [];
    acceptHandles(server, (handle) => {
      const accepted = new TcpSocket(handle, { halfOpen: true });
      bed.atEnd(async () => void accepted.destroy());
      accepted.receiver = {
        onBytes: (bytes, length) => {
          arrived.push({ bytes, text: bytes.toString('latin1', 0, length) });
          accepted.write('.');
        },
      };
      accepted.resume();
    });
    for (const text of ['one', 'two']) {
      const wire = bed.wire(serverPort);
      wire.send(text);
      await wire.until(/^\.$/);
    }
    expect(arrived.map(({ text }) => text)).to.deep.equal(['one', 'two']);
    expect(arrived[0]?.bytes).to.equal(arrived[1]?.bytes);
  });

  it('do not hide from a server that a connection cannot be accepted', async () => {
    const server = createServer();
    await listening(server);
    bed.atEnd(async () => void server.close());
    acceptHandles(server, () => expect.fail('there is no connection'));
    const failed = once(server, 'error');
    Reflect.get(server, '_handle').onconnection(-constants.errno.ENOBUFS);
    expect((await failed)[0].code).to.equal('ENOBUFS');
  });

  it('leave alone the heads of requests that wait for a connection', async () => {
    const upstream = await bed.upstream(({ url, headers }, response) => {
      setTimeout(() => response.end(`${url} ${headers['x-me']} ${headers.host}.`), 2);
    });
    const options = { maxConnsPerHost: 1 };
    await bed.install(forwarding(port, upstream, { destination: { options } }));
    const wires = Array.from({ length: 40 }, () => bed.wire(port));
    wires.forEach((wire, i) => {
      wire.send(`GET /of-${i} HTTP/1.1\r\nHost: host-${i}\r\nX-Me: number-${i}\r\nConnection: close\r\n\r\n`);
    });
    const answers = await Promise.all(wires.map((wire) => wire.untilClosed()));
    answers.forEach((answer, i) => {
      expect(answer).to.match(new RegExp(`\r\n/of-${i} number-${i} host-${i}\\.`));
    });
  });

  it('leave alone the responses that clients take late', async () => {
    const upstream = await bed.upstream(({ url = '' }, response) => {
      response.writeHead(200, { 'content-length': bodyBytes }).end(Buffer.alloc(bodyBytes, url.slice(1)));
    });
    await bed.install(forwarding(port, upstream));
    const taken = letters.map(
      (letter) =>
        new Promise((resolve, reject) => {
          const agent = new Agent();
          bed.atEnd(async () => agent.destroy());
          const request = get({ port, path: `/${letter}`, agent }, (response) => {
            const seen = takeLate(response, letter);
            response.once('end', () => resolve(seen));
          });
          request.once('error', reject);
        }),
    );
    expect(await Promise.all(taken)).to.deep.equal(letters.map(() => ({ right: bodyBytes, wrong: 0 })));
  });

  it('leave alone the requests that an upstream takes late', async () => {
    const upstream = await bed.upstream((request, response) => {
      const seen = takeLate(request, request.url?.slice(1) ?? '');
      request.once('end', () => response.end(JSON.stringify(seen)));
    });
    await bed.install(forwarding(port, upstream));
    const answers = letters.map((letter, i) => {
      const wire = bed.wire(port);
      const framing = i % 2 === 0 ? 'Transfer-Encoding: chunked' : `Content-Length: ${bodyBytes}`;
      wire.send(`POST /${letter} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${framing}\r\n\r\n`);
      const body = letter.repeat(bodyBytes);
      wire.send(i % 2 === 0 ? `${bodyBytes.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body);
      return wire.untilClosed(30_000);
    });
    for (const answer of await Promise.all(answers)) {
      expect(answer).to.contain(JSON.stringify({ right: bodyBytes, wrong: 0 }));
    }
  });

  it('leave alone what goes through tunnels', async () => {
    const upstream = await bed.rawUpstream((socket) => {
      socket.removeAllListeners('data').pipe(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n');
    });
    await bed.install(forwarding(port, upstream.port));
    const tunnels = letters.map(async (letter) => {
      const wire = bed.wire(port);
      wire.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n');
      await wire.until(/\r\n\r\n$/);
      const seen = takeLate(wire.socket, letter);
      wire.send(letter.repeat(bodyBytes));
      wire.socket.end();
      await wire.untilClosed(30_000);
      return seen;
    });
    expect(await Promise.all(tunnels)).to.deep.equal(letters.map(() => ({ right: bodyBytes, wrong: 0 })));
  });
});
