import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { RequestHistory } from '../../src/proxy/requests/request-history.ts';
import { newRing, RequestRing } from '../../src/proxy/requests/request-ring.ts';
import { ApiServer } from '../support/api-server.ts';
import { eventually } from '../support/eventually.ts';
import { followStream } from '../support/request-stream.ts';

const numbers = {
  timeMs: Date.UTC(2026, 2, 30),
  ...{ durationMs: 12.5, proxyMs: 0.5, connectMs: 2, firstByteMs: 8 },
  index: 42,
  oneIn: 1,
  status: 200,
  attempts: 1,
  protocol: 'HTTP/2.0',
  secure: true,
  candidate: false,
  error: '',
};

describe('GET /requests', () => {
  let api: ApiServer;
  let ring: RequestRing;

  beforeEach(async () => {
    const shape = newRing(100, 1, ['x-kind']);
    ring = new RequestRing(shape);
    api = await ApiServer.start({ recent: new RequestHistory(shape), nodeId: 'a' });
  });
  afterEach(() => api.stop());

  function write(path: string, more: Partial<typeof numbers> = {}): void {
    const ids = ['r1', 'shop', '', 'd1', '10.0.0.1:80', 'page', 'l1', 'edge', 'main'];
    const text = ['GET', 'shop.example.com', ...ids, '=gold', path].join('\0');
    ring.write(0, { ...numbers, ...more }, text);
  }

  interface Listed {
    readonly node: string;
    readonly capacity: number;
    readonly sampling: object;
    readonly requests: readonly { readonly path: string }[];
  }

  async function list(query = ''): Promise<Listed> {
    const { status, json, text } = await api.call('GET', `/requests${query}`);
    expect(status, text).to.equal(200);
    return json as Listed;
  }

  const where = (expression: string): string => `?where=${encodeURIComponent(expression)}`;

  it('names its node, the size of its records, and the sampled share of the traffic', async () => {
    ring.storeCounts(0, 12, 3, 4, 1);
    write('/a');
    const { node, capacity, sampling, requests } = await list();
    expect({ node, capacity, sampling }).to.deep.equal({
      node: 'a',
      capacity: 100,
      sampling: { seen: 12, kept: 3, oneIn: 4, oneInOfErrors: 1 },
    });
    expect(requests).to.have.length(1);
    expect(requests[0]).to.include({ host: 'shop.example.com', scheme: 'https', snapshotIndex: 42, durationMs: 12.5 });
  });

  it('takes a limit and an expression over every field', async () => {
    for (let i = 0; i < 20; i++) write(`/${i}`, { status: i === 7 ? 503 : 200, error: i === 7 ? 'circuit_open' : '' });
    expect((await list('?limit=2')).requests.map(({ path }) => path)).to.deep.equal(['/19', '/18']);
    const finding = [
      'status >= 500',
      'error == "circuit_open" && route == "shop" && attempts == 1',
      'status == 503 && proxyMs == 0.5 && connectMs == 2 && firstByteMs < durationMs && transferMs > 1.9',
      'path.endsWith("/7") && request.path == path && "page" in params && durationMs > 12 && durationMs < 12.6',
      'status == 503 && request.headers["x-kind"] == "gold" && snapshotIndex == 42 && role == "stable"',
      'status == 503 && timestamp(time) < timestamp("2027-01-01T00:00:00Z") && protocol == "HTTP/2.0"',
    ];
    for (const expression of finding) {
      const { requests } = await list(where(expression));
      expect(
        requests.map(({ path }) => path),
        expression,
      ).to.deep.equal(['/7']);
    }
  });

  it('refuses what is no expression, and names it', async () => {
    for (const [query, message] of [
      [where('status >'), /^where: cel: /],
      [where('statuss == 5'), /^where: cel: .*statuss/],
      [where('path'), /^where: cel: must be a bool, is string/],
      ['?limit=0', /^limit must be/],
      ['?limit=', /^limit must be/],
      ['?limit=1&limit=2', /^limit must be given once/],
    ] as const) {
      const { status, json } = await api.call('GET', `/requests${query}`);
      expect(status, query).to.equal(400);
      expect((json as { error: string }).error).to.match(message);
      if (query.includes('where')) expect((await api.call('GET', `/requests/stream${query}`)).status).to.equal(400);
    }
  });

  it('is empty where no requests are recorded', async () => {
    const off = await ApiServer.start();
    const { json } = await off.call('GET', '/requests');
    expect(json).to.include({ capacity: 0 });
    expect((json as Listed).requests).to.deep.equal([]);
    await off.stop();
  });

  describe('/stream', () => {
    const raw = (method: string, version: string): { received: () => string; socket: Socket } => {
      const { hostname, port } = new URL(api.base);
      const socket = connect(Number(port), hostname);
      let received = '';
      socket.setEncoding('latin1').on('data', (text: string) => (received += text));
      const ending = version === '1.1' ? 'close' : 'keep-alive';
      socket.write(
        `${method} /api/v1/requests/stream HTTP/${version}\r\nHost: 127.0.0.1\r\nConnection: ${ending}\r\n\r\n`,
      );
      return { received: () => received, socket };
    };

    it('tells a client of HTTP/1.0 that the end of the connection is that of the stream', async () => {
      const { received, socket } = raw('GET', '1.0');
      await eventually(() => expect(received()).to.contain('\r\n\r\n'));
      expect(received())
        .to.match(/\r\nconnection: close\r\n/i)
        .and.not.match(/transfer-encoding/i);
      socket.destroy();
    });

    it('closes the connection behind HEAD for a client that asks for it', async () => {
      const { received, socket } = raw('HEAD', '1.1');
      await once(socket, 'end');
      expect(received()).to.match(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is);
    });

    const follow = (expression = 'true') => followStream(`${api.base}/api/v1/requests/stream${where(expression)}`);
    const pathsOf = (events: readonly { event: string; data: unknown }[]): string[] =>
      events.filter(({ event }) => event === 'request').map(({ data }) => (data as { path: string }).path);

    it('shows what comes from now on and passes the expression', async () => {
      write('/before');
      const stream = await follow('status >= 400');
      expect(stream.status).to.equal(200);
      await eventually(() => expect(stream.events.map(({ event }) => event)).to.deep.equal(['sampling']));
      write('/good');
      write('/bad', { status: 404 });
      await eventually(() => expect(pathsOf(stream.events)).to.deep.equal(['/bad']));
      stream.close();
    });

    it('says how many it could not show', async () => {
      const stream = await follow();
      await eventually(() => expect(stream.events).not.to.have.length(0));
      for (let i = 0; i < 1_000; i++) write(`/${i}`);
      const dropped = (): number =>
        stream.events
          .filter(({ event }) => event === 'dropped')
          .reduce((sum, { data }) => sum + (data as { count: number }).count, 0);
      await eventually(() => expect(pathsOf(stream.events).length + dropped()).to.equal(1_000));
      expect(dropped()).to.be.at.least(900);
      stream.close();
    });

    it('ends when the node stops, and is refused when there are too many', async () => {
      const streams = await Promise.all(Array.from({ length: 16 }, () => follow()));
      expect((await follow()).status).to.equal(503);
      const stopping = api.api.close();
      await eventually(() => expect(streams.every(({ ended }) => ended)).to.equal(true));
      await stopping;
    });
  });
});
