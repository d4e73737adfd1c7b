// Retries of contract.md §7.4 through the proxy.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function arrayBufferBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

describe('retries', () => {
  let bed: PolicyBed;
  /** Response to each request: a status, or `reset`, or `never`; the last one repeats. */
  let script: (number | 'reset' | 'never')[];
  let seen: { name: string; attempt: string | undefined; body: string }[];
  let ports: number[];
  beforeEach(async () => {
    bed = await PolicyBed.open({ retryBufferBytes: 20_000 });
    [script, seen] = [[200], []];
    ports = await bed.named(['a', 'b'], (name, request, response) => void answer(name, request, response));
  });
  afterEach(() => bed.end());

  async function answer(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    seen.push({ name, attempt: request.headers['x-gateway-attempt-count'] as string | undefined, body });
    const next = script.length > 1 ? script.shift() : script[0];
    if (next === 'reset') request.socket.destroy();
    else if (typeof next === 'number') response.writeHead(next, { 'x-by': name }).end(`${next}`);
  }

  const quick = { backoff: { base: '1ms', max: '2ms' } };
  const retrying = (retry: object, options: object = {}, more: object = {}) =>
    bed.balanced(ports, options, { retry: { ...quick, ...retry } }, more);

  it('ask another endpoint each time, and pass the last response on', async () => {
    await retrying({ attempts: 1 });
    script = [503, 200];
    expect(await bed.ask()).to.include({ status: 200 });
    expect(seen.map(({ name }) => name).sort()).to.deep.equal(['a', 'b']);
    script = [503, 500];
    expect(await bed.ask()).to.include({ status: 500, body: '500' });
    expect(seen).to.have.length(4);
  });

  it('happen for what they are on', async () => {
    const rows = [
      [{}, [500, 200], 200],
      [{}, ['reset', 200], 200],
      [{}, [404, 200], 404],
      [{ on: ['gateway-error'] }, [500, 200], 500],
      [{ on: ['gateway-error'] }, [504, 200], 200],
      [{ on: ['gateway-error'] }, ['reset', 200], 502],
      [{ on: ['connection-failure'] }, ['reset', 200], 200],
      [{ on: ['connection-failure'] }, [503, 200], 503],
      [{ on: ['retriable-codes'], retriableCodes: [409] }, [409, 200], 200],
      [{ on: ['retriable-codes'], retriableCodes: [409] }, [500, 200], 500],
      [{ attempts: 0 }, [500, 200], 500],
      [{ attempts: 3 }, [500, 501, 502, 200], 200],
      [{ attempts: 2 }, [500, 501, 502, 200], 502],
    ] as const;
    for (const [retry, answers, status] of rows) {
      await retrying({ attempts: 1, ...retry });
      script = [...answers];
      expect((await bed.ask()).status, JSON.stringify([retry, answers])).to.equal(status);
    }
  });

  it('use the connection of an attempt again once the whole request went over it', async () => {
    const sockets = new Set<object>();
    const [port = 0] = await bed.named(['one'], (_, request, response) => {
      sockets.add(request.socket);
      response.statusCode = script.shift() as number;
      request.resume().once('end', () => response.end('of a length'));
    });
    await bed.balanced([port], {}, { retry: { attempts: 1 } });
    for (const options of [{}, { method: 'PUT', body: 'text' }]) {
      script = [503, 200];
      expect(await bed.ask({}, options)).to.include({ status: 200 });
    }
    expect(sockets.size).to.equal(1);
  });

  it('of gRPC go by the status in a response that is nothing but trailers', async () => {
    const names: string[] = [];
    const [port = 0] = await bed.named(['grpc'], (name, _, response) => {
      names.push(name);
      response.writeHead(200, { 'grpc-status': names.length === 1 ? '14' : '5' }).end();
    });
    const retry = { ...quick, attempts: 3, on: ['retriable-codes'], grpcCodes: ['unavailable'] };
    await bed.balanced([port], {}, { retry });
    expect((await bed.ask()).headers['grpc-status']).to.equal('5');
    expect(names).to.have.length(2);
  });

  it('end with the last result where no endpoint is left to try', async () => {
    const ports = await bed.named(
      ['a', 'b'],
      (name, _, response) => void response.writeHead(503).end(`${name} is ill`),
    );
    const outlierDetection = { consecutive5xx: 1, maxEjectionPercent: 100, baseEjectionTime: '10m' };
    await bed.balanced(ports, { outlierDetection }, { retry: { attempts: 5, backoff: { base: '1ms' } } });
    expect(await bed.ask()).to.include({ status: 503, body: 'b is ill' });
    expect(await bed.error()).to.equal('no_endpoint');
  });

  it('send a body again, whole, up to a bound', async () => {
    await retrying({ attempts: 2 });
    const body = 'x'.repeat(19_000);
    script = [503, 'reset', 200];
    expect((await bed.ask({}, { method: 'POST', body })).status).to.equal(200);
    expect(seen.map((each) => each.body)).to.deep.equal([body, body, body]);
    script = [503, 200];
    expect((await bed.ask({}, { method: 'POST', body: 'x'.repeat(50_000) })).status).to.equal(503);
  });

  it('hold no body any more once the response has begun', async () => {
    const bodies = 150;
    const bytes = 60_000;
    const lateBed = await PolicyBed.open();
    const open: ServerResponse[] = [];
    const [port = 0] = await lateBed.named(['late'], (_, request, response) => {
      request.resume();
      request.on('end', () => {
        response.writeHead(200).write('begun ');
        open.push(response);
      });
    });
    try {
      await lateBed.balanced([port], {}, { retry: { ...quick, attempts: 1 } });
      const before = arrayBufferBytes();
      const answers = Array.from({ length: bodies }, () =>
        lateBed.ask({}, { method: 'POST', body: 'x'.repeat(bytes) }),
      );
      await eventually(() => expect(open).to.have.length(bodies));
      // The client has them all as well.
      await eventually(() => expect(arrayBufferBytes() - before).to.be.below(1.5 * bodies * bytes));
      for (const response of open) response.end('and ended');
      expect((await Promise.all(answers)).every(({ body }) => body === 'begun and ended')).to.equal(true);
    } finally {
      await lateBed.end();
    }
  });

  it('tell the upstream which try it is where the group asks for it', async () => {
    const groups = [
      { id: 'g', name: 'g', routeIds: ['r'], includeAttemptCount: true, retryDefault: { attempts: 2, ...quick } },
    ];
    await bed.balanced(ports, {}, {}, { groups });
    script = [500, 500, 200];
    await bed.ask({ 'x-gateway-attempt-count': '9' });
    expect(seen.map(({ attempt }) => attempt)).to.deep.equal(['1', '2', '3']);
    // A route's own policy counts, also one without attempts.
    await bed.balanced(ports, {}, { retry: { attempts: 0 } }, { groups });
    script = [500, 200];
    expect((await bed.ask()).status).to.equal(500);
  });

  it('leave out an endpoint where no server listens', async () => {
    const gone = await freePort();
    await bed.balanced([gone, ...ports], {}, { retry: { ...quick, attempts: 1 } });
    expect(new Set((await bed.bodies(12)).values())).to.deep.equal(new Set(['200']));
    await bed.balanced([gone], {}, { retry: { ...quick, attempts: 2, on: ['server-error'] } });
    expect(await bed.error()).to.equal('connection_refused');
  });

  it('begin when a try takes too long, but never cut a response that has begun', async () => {
    await retrying({ attempts: 1, perAttemptTimeout: '100ms' });
    script = ['never', 200];
    expect((await bed.ask()).status).to.equal(200);
    script = ['never'];
    expect(await bed.ask()).to.include({ status: 504 });
    const [slow = 0] = await bed.named(['slow'], (_, __, response) => {
      response.writeHead(200).write('begun ');
      setTimeout(() => response.end('and ended'), 1_200);
    });
    // Long enough for a busy machine to begin within it.
    await bed.balanced([slow], {}, { retry: { ...quick, attempts: 1, perAttemptTimeout: '1s' } });
    expect((await bed.ask()).body).to.equal('begun and ended');
  });

  it('end with the budget of the whole exchange, also during a wait', async () => {
    const retry = { attempts: 50, backoff: { base: '10s', max: '10s' } };
    await bed.balanced(ports, {}, { retry, timeouts: { request: '150ms' } });
    script = [500];
    const startedMs = performance.now();
    expect(await bed.error()).to.equal('timeout');
    expect(performance.now() - startedMs).to.be.within(140, 2_000);
    expect(seen).to.have.length(1);
  });

  it('wait between tries, ever longer up to a bound', async () => {
    await bed.balanced(ports, {}, { retry: { attempts: 3, backoff: { base: '80ms', max: '100ms' } } });
    script = [500];
    const startedMs = performance.now();
    await bed.ask();
    expect(performance.now() - startedMs).to.be.at.least(40 + 50 + 50);
  });

  it('are capped while many are under way, and what is refused has the last result', async () => {
    await retrying(
      { attempts: 1, on: ['server-error'], budgetPercent: 100 },
      { circuitBreaker: { maxRetries: 2, failureThreshold: 0 } },
    );
    // The first tries of all are answered together, and the retries stay under way.
    const waiting: ServerResponse[] = [];
    let first = true;
    const [port = 0] = await bed.named(['x'], (_, __, response) => {
      waiting.push(response);
      if (first && waiting.length === 6) {
        first = false;
        for (const each of waiting.splice(0)) each.writeHead(503).end('first');
      }
    });
    await bed.balanced(
      [port],
      { circuitBreaker: { maxRetries: 2, failureThreshold: 0 } },
      { retry: { ...quick, attempts: 1, budgetPercent: 100 } },
    );
    const asked = Promise.all(Array.from({ length: 6 }, () => bed.ask()));
    await eventually(() => {
      expect(first).to.equal(false);
      expect(waiting).to.have.length(2);
    });
    for (const each of waiting) each.end('second');
    const bodies = (await asked).map(({ body }) => body).sort();
    expect(bodies).to.deep.equal(['first', 'first', 'first', 'first', 'second', 'second']);
  });

  it('are not for upgrades', async () => {
    await retrying({ attempts: 3 });
    script = [503];
    const wire = bed.wire(bed.port);
    wire.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await wire.until(/HTTP\/1\.1 503/);
    expect(seen).to.have.length(1);
  });
});
