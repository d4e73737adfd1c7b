// Exchanges of every fate, a thousand of them: all counts that they held are released.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { PolicyBed } from '../support/named-upstreams.ts';
import { seededRandom } from '../support/random.ts';

describe('exchanges of every fate', () => {
  let bed: PolicyBed;
  const random = seededRandom(Number(process.env.SEED ?? 1));
  const anyOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  let calm = false;
  let held: (() => void)[] = [];

  beforeEach(async () => {
    bed = await PolicyBed.open({ workers: 2 });
  });
  afterEach(() => bed.end());

  const fates: readonly ((request: IncomingMessage, response: ServerResponse) => void)[] = [
    (_, response) => response.end('ok'),
    (_, response) => response.writeHead(503).end('no'),
    (_, response) => response.writeHead(500, { 'content-length': 100_000 }).end('x'.repeat(100_000)),
    (request) => request.socket.destroy(),
    () => {},
    (_, response) => {
      response.writeHead(200).write('begun');
      setTimeout(() => response.end('ended'), 30);
    },
    (request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('half');
      setTimeout(() => request.socket.destroy(), 10);
    },
    (_, response) => void response.writeHead(200).write('for ever'),
  ];

  function answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume().on('error', () => {});
    response.on('error', () => {});
    if (!calm) anyOf(fates)(request, response);
    else if (request.url === '/held') held.push(() => response.end('held'));
    else if (request.url === '/again' && request.headers['x-gateway-attempt-count'] === '1') {
      response.writeHead(503).end();
    } else response.end('ok');
  }

  /** One exchange of some kind, which ends in some way. */
  async function exchange(): Promise<void> {
    const wire = bed.wire(bed.port);
    const body = 'x'.repeat(anyOf([0, 10, 30_000, 200_000]));
    const kind = anyOf(['get', 'post', 'upgrade', 'torn']);
    const upgrade = kind === 'upgrade' ? 'Connection: upgrade\r\nUpgrade: x\r\n' : 'Connection: close\r\n';
    if (kind === 'post')
      wire.send(`POST / HTTP/1.1\r\nHost: x\r\n${upgrade}Content-Length: ${body.length}\r\n\r\n${body}`);
    else if (kind === 'torn') wire.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\nonly this');
    else wire.send(`GET / HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`);
    const patienceMs = anyOf([0, 5, 40, 400]);
    const end = performance.now() + patienceMs;
    while (!wire.closed && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
    wire.destroy();
  }

  it('give back every place at breakers, endpoints, pools and among the retries', async () => {
    const ports = await Promise.all([1, 2, 3].map(() => bed.upstream(answer)));
    const mirror = await bed.upstream((request, response) => answer(request, response));
    const limits = { maxRequests: 4, maxRetries: 1, maxPendingRequests: 2, failureThreshold: 0 };
    await bed.balanced(
      ports,
      {
        circuitBreaker: limits,
        maxConnsPerHost: 4,
        endpointBalancing: { algorithm: 'LEAST_REQUEST' },
        outlierDetection: { consecutive5xx: 5, baseEjectionTime: '50ms', interval: '20ms', maxEjectionPercent: 60 },
        timeouts: { responseHeader: '100ms' },
      },
      {
        timeouts: { request: '200ms' },
        retry: { attempts: 2, perAttemptTimeout: '60ms', budgetPercent: 0, backoff: { base: '2ms' } },
        mirror: { destinationId: 'm' },
      },
      {
        destinations: [
          { id: 'm', name: 'm', host: '127.0.0.1', port: mirror, options: { circuitBreaker: { maxRequests: 2 } } },
        ],
        groups: [{ id: 'g', name: 'g', routeIds: ['r'], includeAttemptCount: true }],
      },
    );
    const clients = Array.from({ length: 16 }, async () => {
      for (let i = 0; i < 60; i++) await exchange();
    });
    await Promise.all(clients);
    calm = true;
    // What is under way ends by its limits; then everything is as if nothing had been.
    await eventually(async () => {
      held = [];
      const four = Array.from({ length: 4 }, () => bed.ask({}, { path: '/held' }));
      const done = Promise.allSettled(four);
      await eventually(() => expect(held).to.have.length(4), { withinMs: 150 }).finally(() => {
        for (const each of held) each();
      });
      await done;
      expect(await Promise.all(four.map(async (each) => (await each).status))).to.deep.equal([200, 200, 200, 200]);
    });
    // The one retry that is allowed at a time is there each time: without it the 503 would come through. A machine that is
    // slower than the limits of time makes it 504, which says nothing.
    for (let served = 0; served < 20; ) {
      const { status } = await bed.ask({}, { path: '/again' });
      if (status === 504) continue;
      expect(status).to.equal(200);
      served++;
    }
  });
});
