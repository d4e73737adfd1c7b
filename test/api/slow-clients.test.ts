import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import type { ConnectionLimits } from '../../src/api/server.ts';
import { ApiServer } from '../support/api-server.ts';
import { ca, server } from '../support/certificates.ts';
import { call } from '../support/http-call.ts';

const mebibyte = 1024 * 1024;
const bodyLimit = 4 * mebibyte;
const tls = { ...server, clientAuth: 'none' } as const;

interface Client {
  readonly socket: Socket;
  /** Text that came in so far. */
  text(): string;
  /** Resolves with all text once the connection is closed. */
  readonly closed: Promise<string>;
}

function clientOn(socket: Socket): Client {
  let text = '';
  socket.on('error', () => undefined);
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  return { socket, text: () => text, closed: new Promise((resolve) => socket.once('close', () => resolve(text))) };
}

// A client that exceeds the limits must neither miss the answer nor keep another client from one.
describe('clients that are slow, silent or send too much', () => {
  let api: ApiServer;
  const clients = new Set<Socket>();

  const start = async (limits: Partial<ConnectionLimits> = {}, secure = false): Promise<void> => {
    api = await ApiServer.start({ options: { limits, ...(secure && { tls }) } });
  };

  const plain = (): Client => {
    const socket = connect(api.api.address.port, '127.0.0.1');
    clients.add(socket);
    return clientOn(socket);
  };

  const open = (secure: boolean): Client => {
    if (!secure) return plain();
    const socket = connectTls({ port: api.api.address.port, host: '127.0.0.1', ca });
    clients.add(socket);
    return clientOn(socket);
  };

  afterEach(async () => {
    for (const socket of clients) socket.destroy();
    clients.clear();
    await api.stop();
  });

  const tooMuch: [what: string, head: string, bytes: Buffer][] = [
    ['a length', `Content-Length: ${bodyLimit + mebibyte}`, Buffer.alloc(bodyLimit + mebibyte, 'x')],
    [
      'chunks',
      'Transfer-Encoding: chunked',
      Buffer.concat(Array(80).fill(Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`))),
    ],
  ];
  for (const secure of [false, true])
    for (const [what, head, bytes] of tooMuch)
      it(`get their 413 although they write all before they read: ${what}, ${secure ? 'TLS' : 'plain'}`, async () => {
        await start({}, secure);
        for (let round = 0; round < 3; round += 1) {
          const { socket, closed } = open(secure);
          socket.pause();
          socket.write(`POST /api/v1/groups HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n`);
          await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
          socket.resume();
          const text = await closed;
          expect(text.slice(0, 12), `round ${round}`).to.equal('HTTP/1.1 413');
          expect(text).to.match(/\{"error":"body is larger than 4 MiB"\}$/);
        }
      });

  it('are cut when they never stop sending, and what they send is no request', async () => {
    await start();
    const { socket, closed } = plain();
    socket.write(`POST /api/v1/groups HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bodyLimit + 1}\r\n\r\n`);
    const more = Buffer.from(
      'POST /api/v1/groups HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'.repeat(1000),
    );
    const push = (): void => void (socket.writable && socket.write(more, push));
    push();
    const text = await closed;
    expect(text.match(/HTTP\/1\.1/g)).to.have.length(1);
    expect(text).to.match(/^HTTP\/1\.1 413/);
  });

  for (const [what, bytes] of [
    [
      'a body that was refused',
      `POST /api/v1/groups HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bodyLimit + 1}\r\n\r\n`,
    ],
    ['nonsense', 'nonsense\r\n\r\n'],
  ] as const)
    it(`are closed after ${what}, also when they keep their end open`, async () => {
      await start();
      const socket = connect({ port: api.api.address.port, host: '127.0.0.1', allowHalfOpen: true });
      clients.add(socket);
      const { closed } = clientOn(socket);
      socket.write(bytes);
      await once(socket, 'end');
      // Their system resets a connection that is gone at the other end, which is how they learn of it.
      const knock = setInterval(() => socket.write('x'), 50);
      expect(await closed.finally(() => clearInterval(knock))).to.match(/^HTTP\/1\.1 4\d\d/);
    });

  for (const [what, bytes] of [
    ['nothing', ''],
    ['half a head', 'GET /api/v1/routes HTTP/1.1\r\nHost: localhost\r\nX-Half: '],
  ] as const)
    it(`are closed by 408 when they send ${what} and no more`, async () => {
      await start({ headMs: 200 });
      const { socket, closed } = plain();
      socket.write(bytes);
      expect(await closed).to.match(/^HTTP\/1\.1 408 .*\{"error":"request took too long"\}$/s);
    });

  it('are closed by 408 when their body does not come', async () => {
    await start({ headMs: 200, requestMs: 400 });
    const { socket, closed } = plain();
    socket.write('POST /api/v1/groups HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{');
    expect(await closed).to.match(/^HTTP\/1\.1 408 /);
  });

  it('are closed when they do not finish the TLS handshake', async () => {
    await start({ headMs: 200 }, true);
    const { closed } = plain();
    expect(await closed).to.equal('');
  });

  const slow: [what: string, bytes: string][] = [
    ['say nothing', ''],
    ['send half a head', 'GET /api/v1/routes HTTP/1.1\r\nHost: localhost\r\nX-Half: '],
    ['send half a body', 'POST /api/v1/groups HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{'],
    ['stay after an answer', 'GET /api/v1/routes HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ];
  for (const secure of [false, true])
    it(`keep no other client from an answer, in any number: ${secure ? 'TLS' : 'plain'}`, async () => {
      const connections = 40;
      await start({ connections }, secure);
      const stream = open(secure);
      stream.socket.write('GET /api/v1/sync/snapshot HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await once(stream.socket, 'data');
      let kept = 0;
      for (let count = 0; count < 400; count += 1) {
        const { socket, closed } = open(secure && count % 2 === 0);
        kept += 1;
        void closed.then(() => {
          kept -= 1;
        });
        await once(socket, 'connect');
        socket.write(slow[count % slow.length]?.[1] ?? '');
        if (count % 50 === 49)
          expect(await call(api.base, 'GET', '/healthz', { tls: { ca } }), `after ${count}`).to.include({
            status: 200,
          });
      }
      while (kept > connections) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(stream.socket.destroyed, 'an event stream is not slow').to.equal(false);
    });
});
