// Limits on the connections of clients and on what their unfinished heads hold, at real processes: what clients take leaves the
// store, raft and the API what they need (operations.md, Limits).

import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { block, END_HEADERS, END_STREAM, frame, framesIn, greeting } from '../support/http2-frames.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needs } from '../support/needs.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

/** A client's connection and what became of it. */
class Client {
  readonly socket: Socket;
  received = Buffer.alloc(0);
  isClosed = false;
  isOpen = false;

  constructor(port: number, isSecure = false, protocol?: string) {
    const options = { host: '127.0.0.1', port, rejectUnauthorized: false };
    const onOpen = (): void => {
      this.isOpen = true;
    };
    this.socket = isSecure
      ? connectSecure({ ...options, ...(protocol && { ALPNProtocols: [protocol] }) }, onOpen)
      : connect(options, onOpen);
    this.socket.on('data', (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes]);
    });
    this.socket.on('error', () => {});
    this.socket.on('end', () => {
      this.isClosed = true;
    });
    this.socket.on('close', () => {
      this.isClosed = true;
    });
  }

  get text(): string {
    return this.received.toString('latin1');
  }
}

describe('limits on what clients take', () => {
  const clients: Client[] = [];
  const started: SluiceProcess[] = [];
  const certificate = makeCertificate({ dnsNames: ['localhost'] });
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    for (const sluice of started.splice(0)) await sluice.stop();
  });

  const opened = (port: number, count: number, isSecure = false): Client[] => {
    const made = Array.from({ length: count }, () => new Client(port, isSecure));
    clients.push(...made);
    return made;
  };
  const start = async (
    options: Parameters<typeof startSluice>[0],
  ): Promise<{ sluice: SluiceProcess; api: ApiClient }> => {
    const sluice = await startSluice(options);
    started.push(sluice);
    return { sluice, api: apiClient(sluice.url) };
  };
  const serve = async (api: ApiClient, ...listeners: readonly object[]): Promise<number[]> => {
    const ports: number[] = [];
    for (const [at, listener] of listeners.entries()) {
      const port = await freePort();
      ports.push(port);
      await api.create('listeners', { id: `l${at}`, name: `l${at}`, address: '127.0.0.1', port, ...listener });
    }
    await api.create('routes', { id: 'r', name: 'r', directResponse: { status: 200, body: 'served' } });
    await api.activateAs('v1');
    return ports;
  };
  const served = (port: number) =>
    eventually(async () => expect((await call(`http://127.0.0.1:${port}`, 'GET', '/')).text).to.equal('served'));
  const metric = async (sluice: SluiceProcess, name: string): Promise<number> => {
    const { text } = await call(sluice.url, 'GET', '/metrics');
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1));
  };
  const refused = (limit: string) => `sluice_client_connections_refused_total{limit="${limit}"}`;
  const openOf = (list: readonly Client[]) => list.filter(({ isOpen, isClosed }) => isOpen && !isClosed);
  /** Waits until the workers count `list`: a connection that is open at the client may still wait to be accepted. */
  const accepted = (sluice: SluiceProcess, list: readonly Client[]) =>
    eventually(async () => {
      expect(openOf(list)).to.have.length(list.length);
      expect(await metric(sluice, 'sluice_client_connections')).to.equal(list.length);
    });
  const descriptorsOf = ({ child }: SluiceProcess) => readdirSync(`/proc/${child.pid}/fd`).length;

  describe('350 idle connections at a limit of 256 descriptors', () => {
    before(function () {
      needs(this, 'prlimit');
    });

    for (const who of ['a listener', 'the API'] as const) {
      it(`to ${who} take neither store, raft nor API away, during the flood and after it`, async () => {
        const { sluice, api } = await start({ descriptors: 256, more: 'proxy: { workers: 2 }' });
        const [port = 0] = await serve(api, {});
        await served(port);
        const target = who === 'a listener' ? port : Number(new URL(sluice.url).port);
        const flood = opened(target, 350);
        await eventually(() => expect(openOf(flood).length).to.be.lessThan(256));
        for (let round = 0; round < 30; round++) {
          const { status, body } = await api.put('/routes/r', {
            ...{ name: 'r', directResponse: { status: 200, body: 'served' } },
            match: { pathPrefix: '/' },
          });
          expect(status, JSON.stringify(body)).to.equal(200);
          await api.create('routes', {
            name: `r${round}`,
            match: { path: `/r${round}` },
            directResponse: { status: 204 },
          });
        }
        expect(await api.activateAs('during')).to.be.a('string');
        expect(descriptorsOf(sluice)).to.be.lessThan(256);
        if (who === 'a listener')
          expect(
            (await metric(sluice, refused('descriptors'))) + (await metric(sluice, refused('process'))),
          ).to.be.above(0);
        for (const { socket } of flood) socket.destroy();
        await served(port);
        expect((await api.get<unknown[]>('/routes')).body).to.have.length(31);
        await api.activateAs('after');
        expect((await call(sluice.url, 'GET', '/readyz')).status).to.equal(200);
        expect(sluice.output.filter((line) => line.includes('EMFILE') && line.includes('store'))).to.deep.equal([]);
      });
    }

    it('to a listener leave what had been let in served, and are told in one line of the log', async () => {
      const { sluice, api } = await start({ descriptors: 256, more: 'proxy: { workers: 1 }' });
      const [port = 0] = await serve(api, {});
      const [early] = opened(port, 1);
      await eventually(() => expect(early?.isOpen).to.equal(true));
      const flood = opened(port, 350);
      await eventually(() => expect(flood.filter(({ isClosed }) => isClosed).length).to.be.above(100));
      early?.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await eventually(() => expect(early?.text).to.contain('200 OK'));
      expect(sluice.output.some((line) => line.includes('connections beyond a limit were closed'))).to.equal(false);
      await eventually(() =>
        expect(sluice.output.some((line) => line.includes('connections beyond a limit were closed'))).to.equal(true),
      );
    });
  });

  it('connections to upstreams that hang take no descriptor of the store, raft and the API', async function () {
    needs(this, 'prlimit');
    const held: Socket[] = [];
    const silent = createServer((socket) => held.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const sessions: ClientHttp2Session[] = [];
    try {
      const { sluice, api } = await start({ descriptors: 256, more: 'proxy: { workers: 2 }' });
      const { port: upstream } = silent.address() as AddressInfo;
      await api.create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port: upstream });
      await api.create('routes', {
        ...{ id: 'hangs', name: 'hangs', match: { pathPrefix: '/hangs' } },
        forward: { destinations: [{ destinationId: 'd' }] },
      });
      const [port = 0] = await serve(api, { http2: true });
      let answered = 0;
      for (let at = 0; at < 4; at++) {
        const session = connectHttp2(`http://127.0.0.1:${port}`);
        session.on('error', () => {});
        sessions.push(session);
        for (let stream = 0; stream < 100; stream++) {
          session
            .request({ ':path': `/hangs/${stream}` })
            .on('response', () => answered++)
            .on('error', () => {});
        }
      }
      await eventually(() => expect(answered).to.be.above(100));
      expect(held.length).to.be.above(50);
      for (let round = 0; round < 20; round++) {
        await api.create('routes', {
          name: `r${round}`,
          match: { path: `/r${round}` },
          directResponse: { status: 204 },
        });
      }
      await api.activateAs('during');
      expect(descriptorsOf(sluice)).to.be.lessThan(240);
    } finally {
      for (const session of sessions) session.destroy();
      for (const socket of held) socket.destroy();
      silent.close();
    }
  });

  for (const [kind, more, isSecure] of [
    ['in cleartext', {}, false],
    ['under TLS', { tls: { cert: certificate.cert, key: certificate.key } }, true],
    ['of HTTP/2', { http2: true }, false],
  ] as const) {
    it(`maxConnections of a listener: connections ${kind} beyond it are closed at once and counted, over all workers`, async () => {
      const { sluice, api } = await start({ more: 'proxy: { workers: 2 }' });
      const [port = 0] = await serve(api, { maxConnections: 5, ...more });
      const first = opened(port, 5, isSecure);
      // Open at the client is not yet accepted by a worker: connections beyond could be accepted before these.
      await eventually(async () => expect(await metric(sluice, 'sluice_client_connections')).to.equal(5));
      expect(openOf(first)).to.have.length(5);
      if (kind === 'of HTTP/2') for (const { socket } of first) socket.write(greeting);
      const beyond = opened(port, 7, isSecure);
      await eventually(() => expect(beyond.every(({ isClosed }) => isClosed)).to.equal(true));
      expect(openOf(first)).to.have.length(5);
      expect(await metric(sluice, refused('listener'))).to.equal(7);
      expect(await metric(sluice, 'sluice_client_connections')).to.equal(5);
      first[0]?.socket.destroy();
      await eventually(async () => {
        const [next] = opened(port, 1, isSecure);
        await new Promise((resolve) => setTimeout(resolve, 50));
        expect(next && openOf([next])).to.have.length(1);
      });
    });
  }

  it('maxConnections of a listener counts connections that were open before it was set, and goes with an activation', async () => {
    const { sluice, api } = await start({ more: 'proxy: { workers: 2 }' });
    const [port = 0] = await serve(api, {});
    const first = opened(port, 4);
    await accepted(sluice, first);
    const limited = (maxConnections: number) => ({ name: 'l0', address: '127.0.0.1', port, maxConnections });
    await api.put('/listeners/l0', limited(4));
    await api.activateAs('v2');
    const [beyond] = opened(port, 1);
    await eventually(() => expect(beyond?.isClosed).to.equal(true));
    await api.put('/listeners/l0', limited(0));
    await api.activateAs('v3');
    await served(port);
    expect(openOf(first)).to.have.length(4);
  });

  it('proxy.maxConnections: connections beyond it are closed at once and counted, over all listeners', async () => {
    const { sluice, api } = await start({ more: 'proxy: { workers: 2, maxConnections: 6 }' });
    const [one = 0, two = 0] = await serve(api, {}, {});
    const first = [...opened(one, 3), ...opened(two, 3)];
    await accepted(sluice, first);
    const beyond = [...opened(one, 4), ...opened(two, 4)];
    await eventually(() => expect(beyond.every(({ isClosed }) => isClosed)).to.equal(true));
    expect(await metric(sluice, refused('process'))).to.equal(8);
    for (const { socket } of first) socket.destroy();
    await served(one);
  });

  describe('bytes of unfinished heads', () => {
    const bound = 8 << 20;
    const one = 900_000;
    const value = 'x'.repeat(8_000);
    const http1 = (): Buffer => {
      const lines = Array.from({ length: Math.floor(one / 8_010) }, (_, at) => `x-${at}: ${value}\r\n`);
      return Buffer.from(`GET / HTTP/1.1\r\nHost: a\r\n${lines.join('')}`);
    };
    const http2 = (scheme: string): Buffer => {
      const parts = Array.from({ length: Math.floor(one / 16_000) }, (_, at) =>
        block([`x-${at}a`, value], [`x-${at}b`, value]),
      );
      const [first = Buffer.alloc(0), ...rest] = parts;
      const pseudo = block([':method', 'GET'], [':scheme', scheme], [':authority', 'x'], [':path', '/']);
      return Buffer.concat([
        greeting,
        frame('HEADERS', END_STREAM, 1, pseudo),
        ...[first, ...rest].map((payload) => frame('CONTINUATION', 0, 1, payload)),
      ]);
    };

    for (const [version, isSecure] of [
      ['HTTP/1.1', false],
      ['HTTP/1.1', true],
      ['HTTP/2', false],
      ['HTTP/2', true],
    ] as const) {
      it(`${version}${isSecure ? ' under TLS' : ''} are bounded over the process: the oldest end, the newest are served`, async () => {
        const { sluice, api } = await start({ more: `proxy: { workers: 2, maxUnfinishedHeadBytes: ${bound} }` });
        const tls = isSecure ? { tls: { cert: certificate.cert, key: certificate.key } } : {};
        const [port = 0] = await serve(api, { http2: version === 'HTTP/2', maxRequestHeaders: 1000, ...tls });
        const head = version === 'HTTP/2' ? http2(isSecure ? 'https' : 'http') : http1();
        const made: Client[] = [];
        for (let at = 0; at < 40; at++) {
          const client = new Client(port, isSecure, version === 'HTTP/2' ? 'h2' : undefined);
          clients.push(client);
          made.push(client);
          await eventually(() => expect(client.isOpen).to.equal(true));
          client.socket.write(head);
          await new Promise((resolve) => setTimeout(resolve, 15));
        }
        await eventually(async () => {
          expect(await metric(sluice, 'sluice_unfinished_heads_refused_total')).to.be.above(20);
          expect(await metric(sluice, 'sluice_unfinished_head_bytes')).to.be.at.most(bound);
        });
        const [oldest, newest] = [made[0], made.at(-1)];
        await eventually(() => expect(oldest?.isClosed || oldest?.text.length).to.be.ok);
        if (version === 'HTTP/1.1') {
          await eventually(() => expect(oldest?.text).to.match(/^HTTP\/1.1 431 .*[Cc]onnection: close/s));
          newest?.socket.write('\r\n');
          await eventually(() => expect(newest?.text).to.match(/^HTTP\/1.1 200 /));
        } else {
          await eventually(() => {
            const goAway = framesIn(oldest?.received ?? Buffer.alloc(0)).find(({ type }) => type === 'GOAWAY');
            expect(goAway?.payload.readUInt32BE(4)).to.equal(11);
          });
          newest?.socket.write(frame('CONTINUATION', END_HEADERS, 1, block(['x-end', '1'])));
          await eventually(() =>
            expect(framesIn(newest?.received ?? Buffer.alloc(0)).some(({ type }) => type === 'HEADERS')).to.equal(true),
          );
        }
        for (const { socket } of made) socket.destroy();
        await eventually(async () => expect(await metric(sluice, 'sluice_unfinished_head_bytes')).to.equal(0));
        await eventually(async () => expect(await metric(sluice, 'sluice_client_connections')).to.equal(0));
      });
    }

    it('ClientHellos of TLS that are never whole are bounded with them: the oldest end, and a handshake goes on', async () => {
      const { sluice, api } = await start({ more: `proxy: { workers: 2, maxUnfinishedHeadBytes: ${1 << 20} }` });
      const [port = 0] = await serve(api, { tls: { cert: certificate.cert, key: certificate.key } });
      // A record of 16,384 bytes with a ClientHello of 16,000, and a hello in two records of which one comes.
      const unfinished = [
        Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0, 1, 0, 0x3e, 0x80, 3, 3]), Buffer.alloc(15_900, 65)]),
        Buffer.concat([Buffer.from([22, 3, 1, 0x3e, 0, 1, 1, 0, 0, 3, 3]), Buffer.alloc(0x3e00 - 6, 65)]),
      ];
      const made: Client[] = [];
      for (let at = 0; at < 160; at++) {
        const client = new Client(port);
        clients.push(client);
        made.push(client);
        client.socket.write(unfinished[at % 2] ?? Buffer.alloc(0));
      }
      await eventually(async () => {
        expect(await metric(sluice, 'sluice_unfinished_heads_refused_total')).to.be.above(60);
        expect(await metric(sluice, 'sluice_unfinished_head_bytes')).to.be.at.most(1 << 20);
      });
      await eventually(() => expect(made.filter(({ isClosed }) => isClosed)).to.have.length.above(60));
      const [whole] = opened(port, 1, true);
      await eventually(() => expect(whole?.isOpen).to.equal(true));
      whole?.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await eventually(() => expect(whole?.text).to.match(/^HTTP\/1.1 200 /));
      whole?.socket.destroy();
      for (const { socket } of made) socket.destroy();
      await eventually(async () => expect(await metric(sluice, 'sluice_unfinished_head_bytes')).to.equal(0));
      await eventually(async () => expect(await metric(sluice, 'sluice_client_connections')).to.equal(0));
    });
  });
});
