import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import type { RelayServer } from '../../../../src/cluster/relay/relay-server.ts';
import type { RelayOutcome, RelayRequest } from '../../../../src/cluster/relay/relayed-write.ts';
import { ca, client as member, server, stranger } from '../../../support/certificates.ts';
import { freePort } from '../../../support/free-port.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  applied,
  createRoute,
  relayClient,
  relayServer,
  requestId,
  requestTo,
  Servers,
  TakingTarget,
} from '../../../support/relay-bed.ts';

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

  describe('writes of one turn', () => {
    const numbered = (address: string, count: number, size = 0) =>
      Array.from({ length: count }, (_, seq) => {
        const id = { ...requestId, seq };
        const spec = { directResponse: { status: 200, body: 'x'.repeat(size) } };
        return requestTo(address, { requestId: id, command: createRoute({ requestId: id, spec }) });
      });
    const sent = (requests: readonly RelayRequest[]): Promise<RelayOutcome[]> =>
      Promise.all(requests.map((request) => client.send(request)));

    let requests: number;
    const counted = (server: RelayServer): Promise<string> => {
      requests = 0;
      return servers.relay({
        take: (head, body) => {
          requests++;
          return server.take(head, body);
        },
      });
    };

    beforeEach(() => {
      client = relayClient({ turnEnd: (run) => setImmediate(run) });
    });

    it('go in one request, and each has its own outcome', async () => {
      const target = new TakingTarget();
      const address = await counted(relayServer({ target }));
      const writes = numbered(address, 5);
      const [first, second, ...rest] = writes;
      if (first === undefined || second === undefined) throw new Error('no writes');
      const unsound = {
        ...second,
        command: createRoute({ requestId: second.requestId, spec: { directResponse: { status: 7 } } }),
      };
      const outcomes = await sent([first, unsound, ...rest]);
      expect(requests).to.equal(1);
      expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal([
        'applied',
        'not-applied',
        'applied',
        'applied',
        'applied',
      ]);
      expect(outcomes[1])
        .to.have.property('reason')
        .that.matches(/^the leader answered 400: the spec at "/);
      expect(target.taken.map((taken) => taken.requestId.seq)).to.deep.equal([0, 2, 3, 4]);
    });

    it('go 64 at a time, long ones alone', async () => {
      const target = new TakingTarget();
      const address = await counted(relayServer({ target }));
      await sent(numbered(address, 130));
      expect([requests, target.taken.length]).to.deep.equal([3, 130]);
      requests = 0;
      await sent(numbered(address, 3, 20_000));
      expect(requests).to.equal(3);
    });

    it('go a quarter of a megabyte at a time', async () => {
      const target = new TakingTarget();
      const address = await counted(relayServer({ target }));
      await sent(numbered(address, 60, 10_000));
      expect([requests, target.taken.length]).to.deep.equal([3, 60]);
    });

    it('go to the leader that each is for', async () => {
      const targets = [new TakingTarget(), new TakingTarget()];
      const addresses = await Promise.all(targets.map((target) => servers.relay(relayServer({ target }))));
      await sent(addresses.flatMap((address) => numbered(address, 2)));
      expect(targets.map((target) => target.taken.length)).to.deep.equal([2, 2]);
    });

    it('go one by one to a leader that refuses them together', async () => {
      const target = new TakingTarget();
      const server = relayServer({ target });
      const address = await servers.relay({
        take: async (head, body) => {
          if (!Buffer.from(body).includes('"writes"')) return await server.take(head, body);
          return { status: 400, body: '{"error":"requestId is missing"}' };
        },
      });
      const outcomes = await sent(numbered(address, 3));
      expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['applied', 'applied', 'applied']);
      expect(target.taken).to.have.length(3);
    });

    it('say of each that it does not lead', async () => {
      const target = new TakingTarget(() => ({ outcome: 'not-leader', leader: undefined }));
      const outcomes = await sent(numbered(await servers.relay(relayServer({ target })), 2));
      const reason = 'the leader answered 421: this node does not lead';
      expect(outcomes).to.deep.equal([
        { outcome: 'not-applied', reason },
        { outcome: 'not-applied', reason },
      ]);
    });

    const rows: [string, number, string, RelayOutcome['outcome']][] = [
      ['500', 500, '{"error":"internal error"}', 'unknown'],
      ['503 not-applied', 503, '{"error":"overload","outcome":"not-applied"}', 'not-applied'],
      ['too few answers', 200, '{"answers":[{"status":400,"body":{"error":"no"}}]}', 'unknown'],
      ['answers that are none', 200, '{"answers":[1,2]}', 'unknown'],
    ];
    for (const [what, status, body, outcome] of rows) {
      it(`${what}: ${outcome} for each`, async () => {
        const outcomes = await sent(numbered(await answering(status, body), 2));
        expect(outcomes.map((each) => each.outcome)).to.deep.equal([outcome, outcome]);
      });
    }

    it('a connection that breaks: unknown for each; a refused one: not-applied', async () => {
      const address = await servers.listen((request) => request.resume().on('end', () => request.socket.destroy()));
      const outcomes = await sent([...numbered(address, 2), ...numbered(`127.0.0.1:${await freePort()}`, 2)]);
      expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal([
        'unknown',
        'unknown',
        'not-applied',
        'not-applied',
      ]);
    });
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
