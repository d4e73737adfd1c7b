import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import type { RelayOutcome } from '../../../../src/cluster/relay/relay.ts';
import { ca, client as member, server, stranger } from '../../../support/certificates.ts';
import { freePort } from '../../../support/free-port.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { applied, relayClient, relayServer, requestTo, Servers, TakingTarget } from '../../../support/relay-bed.ts';

describe('relay client', () => {
  const servers = new Servers();
  let client: ReturnType<typeof relayClient>;

  beforeEach(() => {
    client = relayClient();
  });

  afterEach(async () => {
    await client.close();
    await servers.close();
  });

  const answering = (status: number, body: string): Promise<string> =>
    servers.listen((request, response) => {
      request.resume().on('end', () => response.writeHead(status).end(body));
    });

  it('carries a write to the leader and its result back', async () => {
    const target = new TakingTarget();
    const address = await servers.relay(relayServer({ target }));
    const request = requestTo(address);
    expect(await client.send(request)).to.deep.equal({ outcome: 'applied', index: 12, result: applied });
    expect(Buffer.from(target.taken[0]?.command ?? []).equals(request.command)).to.equal(true);
  });

  it('carries a replay with its entity', async () => {
    const result = { ...applied, replay: { spec: { name: 'a' } } };
    const target = new TakingTarget(() => ({ outcome: 'applied', index: 12, result }));
    const address = await servers.relay(relayServer({ target }));
    expect(await client.send(requestTo(address))).to.deep.equal({ outcome: 'applied', index: 12, result });
  });

  it('keeps its connections', async () => {
    const ports = new Set<number | undefined>();
    const address = await servers.listen((request, response) => {
      ports.add(request.socket.remotePort);
      request.resume().on('end', () => response.writeHead(421).end('{}'));
    });
    for (let round = 0; round < 10; round++) await client.send(requestTo(address));
    expect(ports.size).to.be.at.most(2);
  });

  describe('classifies what it saw', () => {
    const rows: [string, number, string, RelayOutcome['outcome']][] = [
      ['421', 421, '{"error":"this node does not lead","leader":null}', 'not-applied'],
      ['503 not-applied', 503, '{"error":"overload","outcome":"not-applied"}', 'not-applied'],
      ['503 without class', 503, '{"error":"cluster mode not active"}', 'unknown'],
      ['504', 504, '{"error":"stepped down","outcome":"unknown"}', 'unknown'],
      ['500', 500, '{"error":"internal error"}', 'unknown'],
      ['502 of something between', 502, '<html>', 'unknown'],
      ['400', 400, '{"error":"hop"}', 'not-applied'],
      ['401', 401, '{"error":"invalid proof"}', 'not-applied'],
      ['413', 413, '{"error":"too large"}', 'not-applied'],
      ['200 that is no result', 200, '{"index":12}', 'unknown'],
      ['200 that is no JSON', 200, '<html>', 'unknown'],
      [
        '200 with a status of another program',
        200,
        '{"index":1,"result":{"status":299,"kind":"routes","id":"a"}}',
        'unknown',
      ],
    ];
    for (const [what, status, body, outcome] of rows) {
      it(`${what}: ${outcome}`, async () => {
        expect(await client.send(requestTo(await answering(status, body)))).to.include({ outcome });
      });
    }

    it('a refused connection: not-applied', async () => {
      const outcome = await client.send(requestTo(`127.0.0.1:${await freePort()}`));
      expect(outcome).to.include({ outcome: 'not-applied' });
    });

    it('a leader without address, and an address that is none: not-applied', async () => {
      for (const address of ['', 'no address', '127.0.0.1:99999'])
        expect(await client.send(requestTo(address)), address).to.include({ outcome: 'not-applied' });
    });

    it('a connection that breaks after the request was sent: unknown', async () => {
      const address = await servers.listen((request) => request.resume().on('end', () => request.socket.destroy()));
      expect(await client.send(requestTo(address))).to.include({ outcome: 'unknown' });
    });

    it('an answer that breaks off: unknown', async () => {
      const address = await servers.listen((request, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"index":12');
        request.resume().on('end', () => request.socket.destroy());
      });
      expect(await client.send(requestTo(address))).to.include({ outcome: 'unknown' });
    });

    it('no answer in time: unknown', async () => {
      const address = await servers.listen((request) => void request.resume());
      expect(await client.send(requestTo(address, { remainingMs: 50 }))).to.deep.equal({
        outcome: 'unknown',
        reason: 'the leader did not answer in time',
      });
    });

    it('no time for a TLS handshake: not-applied', async () => {
      const silent = createServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const address = silent.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      client = relayClient({ tls: { ...member, ca } });
      expect(await client.send(requestTo(`127.0.0.1:${port}`, { remainingMs: 50 }))).to.include({
        outcome: 'not-applied',
      });
      silent.close();
    });

    it('a write that no leader would take for its size: not-applied, and nothing is sent', async () => {
      const outcome = await client.send(requestTo('127.0.0.1:1', { command: new Uint8Array(41 * 1024 * 1024) }));
      expect(outcome).to.deep.equal({ outcome: 'not-applied', reason: 'the write is too large to be relayed' });
    });

    it('a node without cluster: not-applied', async () => {
      client = relayClient({ clusterId: () => undefined });
      expect(await client.send(requestTo('127.0.0.1:1'))).to.include({ outcome: 'not-applied' });
    });
  });

  it('sends nothing after it has said not-applied', async () => {
    const target = new TakingTarget();
    const address = await servers.relay(relayServer({ target }));
    const clock = new ManualClock(Date.now());
    client = relayClient({ clock });
    const given = client.send(requestTo(address, { remainingMs: 10 }));
    clock.advance(10);
    expect(await given).to.include({ outcome: 'not-applied' });
    const later = requestTo(address, { remainingMs: 1_000 });
    expect(await client.send(later)).to.include({ outcome: 'applied' });
    expect(target.taken.map(({ remainingMs }) => remainingMs)).to.deep.equal([1_000]);
  });

  describe('over TLS', () => {
    const tls = { ...server, ca, requestCert: true, rejectUnauthorized: false };

    it('checks the chain and not the name, and shows its own certificate', async () => {
      const address = await servers.relay(relayServer({ key: undefined }), tls);
      client = relayClient({ key: undefined, tls: { ...member, ca } });
      const unnamed = address.replace('127.0.0.1', '[::ffff:127.0.0.1]');
      expect(await client.send(requestTo(unnamed))).to.include({ outcome: 'applied' });
    });

    it('has nothing to do with a leader that cannot prove itself', async () => {
      const target = new TakingTarget();
      const address = await servers.relay(relayServer({ target }), { ...stranger });
      client = relayClient({ tls: { ...member, ca } });
      expect(await client.send(requestTo(address))).to.include({ outcome: 'not-applied' });
      expect(target.taken).to.deep.equal([]);
    });
  });
});
