// Mirrors of contract.md §7.13: what they get, and that the request itself knows nothing of them.
import { createHash } from 'node:crypto';
import type { ClientHttp2Stream } from 'node:http2';
import { expect } from 'chai';
import { allWaitingBytes, waitingBytesMax } from '../../../../src/proxy/forward/mirror/body-buffer.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { Http2Client } from '../../../support/http2-client.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';
import type { RawClient } from '../../../support/proxy-bed.ts';

describe('mirrors', () => {
  let bed: PolicyBed;
  let ports: number[];
  let copies: { line: string; headers: Record<string, unknown>; body: string }[];
  beforeEach(async () => {
    bed = await PolicyBed.open();
    copies = [];
    ports = await bed.named(['primary'], async (name, request, response) => {
      for await (const _ of request);
      response.end(name);
    });
  });
  afterEach(() => bed.end());

  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

  const mirror = async (): Promise<number> => {
    const [port = 0] = await bed.named(['mirror'], async (_, request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method, url, headers } = request;
      copies.push({ line: `${method} ${url}`, headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(500).end('nobody reads this');
    });
    return port;
  };

  const mirroring = (port: number, forward: object = {}, options: object = {}) =>
    bed.balanced(
      ports,
      {},
      { mirror: { destinationId: 'm' }, ...forward },
      {
        destinations: [{ id: 'm', name: 'm', host: '127.0.0.1', port, options }],
      },
    );

  it('get method, rewritten path, query, fields and body; the answer is of the request itself', async () => {
    await mirroring(await mirror(), { rewrite: { path: '/inside' } });
    const body = 'b'.repeat(300_000);
    const answer = await bed.ask({ 'x-mine': 'yes' }, { method: 'POST', path: '/out?q=1', body });
    expect(answer).to.include({ status: 200, body: 'primary' });
    await eventually(() => expect(copies).to.have.length(1));
    const [copy] = copies;
    expect(copy?.line).to.match(/^POST \/inside(\/out)?\?q=1$/);
    expect(copy?.headers).to.include({ 'x-mine': 'yes', 'content-length': '300000', host: `127.0.0.1:${bed.port}` });
    expect(digest(copy?.body ?? '')).to.equal(digest(body));
  });

  it('get each request once, for any number of retries', async () => {
    const port = await mirror();
    let answers = 0;
    ports = await bed.named(['flaky'], async (_, request, response) => {
      for await (const _chunk of request);
      response.writeHead(++answers % 3 === 0 ? 200 : 503).end();
    });
    await mirroring(port, { retry: { attempts: 2, backoff: { base: '1ms' } } });
    expect((await bed.ask({}, { method: 'POST', body: 'once' })).status).to.equal(200);
    await eventually(() => expect(copies.map(({ body }) => body)).to.deep.equal(['once']));
    await bed.ask();
    await eventually(() => expect(copies).to.have.length(2));
  });

  it('get a share of the requests', async () => {
    await mirroring(await mirror(), { mirror: { destinationId: 'm', percentage: 30 } });
    await bed.bodies(200);
    await eventually(() => expect(copies.length).to.be.within(30, 90));
    copies = [];
    await mirroring(await mirror(), { mirror: { destinationId: 'm', percentage: 0 } });
    await bed.bodies(20);
    expect(copies).to.have.length(0);
  });

  it('that do not exist, refuse, or never answer change nothing', async () => {
    await mirroring(await freePort());
    expect(await bed.ask({}, { method: 'POST', body: 'x' })).to.include({ status: 200, body: 'primary' });
    await bed.balanced(ports, {}, { mirror: { destinationId: 'nobody' } });
    expect(await bed.ask()).to.include({ status: 200, body: 'primary' });
    const silent = await bed.rawUpstream(() => {});
    await mirroring(silent.port, {}, { timeouts: { responseHeader: '50ms' } });
    expect(await bed.ask()).to.include({ status: 200, body: 'primary' });
    await eventually(() => expect(silent.sockets.size).to.equal(0));
  });

  for (const attempts of [0, 2]) {
    it(`get the whole body of a request whose own upstream cannot be reached, with ${attempts} retries`, async () => {
      const port = await mirror();
      ports = [await freePort()];
      await mirroring(port, { retry: { attempts, backoff: { base: '1ms' } } });
      for (const length of [1, 300_000]) {
        const body = 'b'.repeat(length);
        const answer = await bed.ask({}, { method: 'POST', body });
        expect(`${answer.status} ${answer.body}`).to.match(/502.*connection_refused/);
        await eventually(() => expect(copies.map((copy) => copy.body.length)).to.deep.equal([length]));
        expect(digest(copies.pop()?.body ?? '')).to.equal(digest(body));
      }
    });

    it(`get it where that upstream goes away within the body, with ${attempts} retries`, async () => {
      const port = await mirror();
      const leaving = await bed.rawUpstream((socket) => socket.once('data', () => socket.resetAndDestroy()));
      ports = [leaving.port];
      await mirroring(port, { retry: { attempts, backoff: { base: '1ms' } } });
      const body = 'b'.repeat(300_000);
      expect((await bed.ask({}, { method: 'POST', body })).status).to.equal(502);
      await eventually(() => expect(copies.map((copy) => copy.body.length)).to.deep.equal([body.length]));
      expect(digest(copies.pop()?.body ?? '')).to.equal(digest(body));
    });
  }

  it('that take nothing lose their copy, and the request goes on at its own speed', async () => {
    const stuck = await bed.rawUpstream((socket) => socket.pause());
    await mirroring(stuck.port);
    const body = 'x'.repeat(30 << 20);
    let received = 0;
    ports = await bed.named(['counting'], async (_, request, response) => {
      for await (const chunk of request) received += (chunk as Buffer).length;
      response.end('all');
    });
    await mirroring(stuck.port);
    expect((await bed.ask({}, { method: 'POST', body })).body).to.equal('all');
    expect(received).to.equal(body.length);
    expect(bed.proxy.upstreams().lostCopies).to.deep.equal([{ destination: 'm', count: 1 }]);
    // It is heard of only by who reads.
    for (const socket of stuck.sockets) socket.resume();
    await eventually(() => expect(stuck.sockets.size).to.equal(0));
  });

  it('that take nothing hold no more than a mebibyte each, and nothing once they are given up', async () => {
    const stuck = await bed.rawUpstream((socket) => socket.pause());
    let most = 0;
    ports = await bed.named(['counting'], async (_, request, response) => {
      for await (const _chunk of request) most = Math.max(most, allWaitingBytes());
      response.end('all');
    });
    await mirroring(stuck.port);
    const body = 'x'.repeat(30 << 20);
    const answers = await Promise.all(Array.from({ length: 3 }, () => bed.ask({}, { method: 'POST', body })));
    expect(answers.map((answer) => answer.body)).to.deep.equal(Array(3).fill('all'));
    expect(bed.proxy.upstreams().lostCopies).to.deep.equal([{ destination: 'm', count: 3 }]);
    expect(most).to.be.at.most(3 * waitingBytesMax);
    expect(allWaitingBytes()).to.equal(0);
  });

  describe('of requests that are answered before their body has come', () => {
    const body = 'b'.repeat(300_000);
    const [begin, rest] = [body.slice(0, 100), body.slice(100)];
    const head = (fields = '') => `POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${fields}\r\n`;
    let wire: RawClient;
    let clock: ManualClock;
    beforeEach(async () => {
      clock = new ManualClock();
      await bed.end();
      bed = await PolicyBed.open({ clock });
      ports = await bed.named(['early'], (_name, _request, response) => void response.end('answered'));
      await mirroring(await mirror());
      wire = bed.wire(bed.port);
    });

    const isCopied = (count = 1) =>
      eventually(() => expect(copies.map((copy) => digest(copy.body))).to.deep.equal(Array(count).fill(digest(body))));

    it('get what the client sends afterwards, and its connection goes on', async () => {
      wire.send(`${head()}${begin}`);
      await wire.until(/^HTTP\/1\.1 200 [\s\S]*answered$/);
      expect(copies).to.have.length(0);
      wire.send(rest);
      await isCopied();
      expect(wire.received).not.to.match(/connection: close/i);
      wire.send(`${head()}${body}`);
      await isCopied(2);
      await wire.until(/answered[\s\S]*answered$/);
    });

    it('get it in chunks, with retries, and with a request that asked for the end of its connection', async () => {
      await mirroring(await mirror(), { retry: { attempts: 2 } });
      wire.send('POST /early HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n');
      wire.send(`64\r\n${begin}\r\n`);
      await wire.until(/^HTTP\/1\.1 200 [\s\S]*answered$/);
      for (let at = 0; at < rest.length; at += 1_000) {
        const part = rest.slice(at, at + 1_000);
        wire.send(`${part.length.toString(16)}\r\n${part}\r\n`);
      }
      wire.send('0\r\n\r\n');
      await isCopied();
      await wire.untilClosed();
    });

    /** A stream whose response is whole; of its body has gone the beginning. */
    const answeredStream = async (timeouts: object = {}): Promise<ClientHttp2Stream> => {
      const config = bed.configuration(ports, {}, { mirror: { destinationId: 'm' } });
      const m = await mirror();
      await bed.install({
        ...config,
        listeners: [{ id: 'l', name: 'l', port: bed.port, http2: true, timeouts }],
        destinations: [...(config.destinations ?? []), { id: 'm', name: 'm', host: '127.0.0.1', port: m }],
      });
      const client = new Http2Client(`http://127.0.0.1:${bed.port}`);
      bed.atEnd(async () => client.close());
      const stream = client.open({ ':method': 'POST', ':path': '/early' });
      const ended = new Promise((resolve) => stream.once('end', resolve));
      stream.resume().write(begin);
      await ended;
      return stream;
    };

    it('get it over HTTP/2', async () => {
      const stream = await answeredStream();
      stream.end(rest);
      await isCopied();
      await eventually(() => expect(stream.closed).to.equal(true));
      expect(stream.rstCode).to.equal(0);
    });

    it('are given up with a stream of which nothing more comes, independent of the limit for requests', async () => {
      for (const [clientRequest, minutes] of [
        ['0s', 1],
        ['3m', 3],
      ] as const) {
        const stream = await answeredStream({ clientRequest });
        clock.advance(minutes * 60_000 - 5_000);
        await new Promise((resolve) => setTimeout(resolve, 50));
        expect(stream.closed, clientRequest).to.equal(false);
        clock.advance(10_000);
        await eventually(() => expect(stream.closed).to.equal(true));
        expect(stream.rstCode).to.equal(0);
      }
    });

    it('are given up with a connection of which nothing more comes, where requests have no limit', async () => {
      const config = bed.configuration(ports, {}, { mirror: { destinationId: 'm' } });
      await bed.install({
        ...config,
        listeners: [{ id: 'l', name: 'l', port: bed.port, timeouts: { clientRequest: '0s' } }],
        destinations: [...(config.destinations ?? []), { id: 'm', name: 'm', host: '127.0.0.1', port: await mirror() }],
      });
      wire.send(`${head('Connection: close\r\n')}${begin}`);
      await wire.until(/answered$/);
      clock.advance(55_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(wire.closed).to.equal(false);
      clock.advance(10_000);
      await wire.untilClosed();
    });

    it('are given up where the rest never comes, or cannot be read', async () => {
      const silent = await bed.rawUpstream(() => {});
      await mirroring(silent.port);
      wire.send(`${head()}${begin}`);
      await wire.until(/answered$/);
      expect(silent.sockets.size).to.equal(1);
      wire.destroy();
      await eventually(() => expect(silent.sockets.size).to.equal(0));
      const broken = bed.wire(bed.port);
      broken.send('POST /early HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n');
      await broken.until(/answered$/);
      broken.send('no chunk');
      const answers = await broken.untilClosed();
      // What has been answered is not answered again.
      expect(answers.match(/HTTP\/1\.1/g)).to.have.length(1);
      await eventually(() => expect(silent.sockets.size).to.equal(0));
    });

    it('leave the rest to be dropped as that of others when they are lost', async () => {
      const leaving = await bed.rawUpstream((socket) => socket.resetAndDestroy());
      await mirroring(leaving.port);
      wire.send(`${head()}${begin}`);
      await wire.until(/answered$/);
      await eventually(() => expect(leaving.sockets.size).to.equal(0));
      wire.send(rest.slice(0, 20_000));
      wire.send(rest.slice(20_000));
      wire.send('GET /early HTTP/1.1\r\nHost: x\r\n\r\n');
      await wire.until(/answered[\s\S]*answered$/);
    });
  });

  it('get no upgrades', async () => {
    await mirroring(await mirror());
    const wire = bed.wire(bed.port);
    wire.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await wire.until(/HTTP\/1\.1 200/);
    await bed.ask();
    await eventually(() => expect(copies).to.have.length(1));
  });
});
