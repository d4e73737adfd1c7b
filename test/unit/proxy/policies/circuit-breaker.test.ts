// The circuit breaker of contract.md §7.9 through the proxy, its caps included.
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';

describe('the circuit breaker through the proxy', () => {
  let bed: PolicyBed;
  let status: number;
  let seen: number;
  /** Requests that the upstream keeps waiting. */
  let held: (() => void)[];
  let ports: number[];
  beforeEach(async () => {
    bed = await PolicyBed.open();
    [status, seen, held] = [200, 0, []];
    ports = await bed.named(['a'], (name, request, response) => {
      seen++;
      const answer = () => response.writeHead(status).end(name);
      if (request.url === '/held') held.push(answer);
      else answer();
    });
  });
  afterEach(() => bed.end());

  const breaker = (circuitBreaker: object, more: object = {}) => bed.balanced(ports, { circuitBreaker, ...more });

  it('opens after failures in a row, probes after a while, and closes when the probe succeeds', async () => {
    await breaker({ failureThreshold: 3, openDuration: '600ms' });
    status = 500;
    await bed.bodies(2);
    status = 200;
    await bed.bodies(1);
    status = 500;
    await bed.bodies(3);
    expect(await bed.error()).to.equal('circuit_open');
    expect(seen).to.equal(6);
    const refused = await bed.ask();
    expect(refused.status).to.equal(503);
    expect(JSON.parse(refused.body)).to.include({ message: 'circuit breaker open', destination: 'd' });
    // The probe fails, and the time begins anew.
    await eventually(async () => expect((await bed.ask()).status).to.equal(500));
    expect(await bed.error()).to.equal('circuit_open');
    status = 200;
    await eventually(async () => expect((await bed.ask()).status).to.equal(200));
    expect(new Set(await bed.bodies(5))).to.deep.equal(new Set(['a']));
  });

  it('counts what never came as failures, and lets one probe at a time through', async () => {
    await breaker({ failureThreshold: 1, openDuration: '50ms' }, { timeouts: { responseHeader: '60ms' } });
    // A slow machine may let the circuit's time pass between the two.
    await eventually(async () => {
      expect((await bed.ask({}, { path: '/held' })).status).to.equal(504);
      expect(await bed.error()).to.equal('circuit_open');
    });
    await eventually(async () => {
      const probe = bed.ask({}, { path: '/held' });
      const before = held.length;
      await eventually(() => expect(held.length).to.be.greaterThan(before - 1), { withinMs: 40 });
      await probe;
      expect(held.length).to.be.greaterThan(1);
    });
  });

  it('lets another probe go when the client of the first one leaves', async () => {
    await breaker({ failureThreshold: 1, openDuration: '50ms' });
    status = 500;
    await bed.ask();
    status = 200;
    const wire = bed.wire(bed.port);
    await eventually(async () => {
      wire.send('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => expect(held).to.have.length(1), { withinMs: 30 });
    });
    expect(await bed.error()).to.equal('circuit_open');
    wire.destroy();
    await eventually(async () => expect((await bed.ask()).status).to.equal(200));
  });

  it('caps what is under way, and gives every place back', async () => {
    await breaker({ maxRequests: 2, maxConnections: 5, failureThreshold: 0 });
    for (let round = 0; round < 3; round++) {
      const two = [bed.ask({}, { path: '/held' }), bed.ask({}, { path: '/held' })];
      await eventually(() => expect(held).to.have.length(2));
      expect(await bed.error()).to.equal('circuit_open');
      for (const answer of held.splice(0)) answer();
      expect((await Promise.all(two)).map((each) => each.status)).to.deep.equal([200, 200]);
    }
  });

  it('never opens with a threshold of 0', async () => {
    await breaker({ failureThreshold: 0 });
    status = 500;
    expect(new Set(await bed.bodies(20))).to.deep.equal(new Set(['a']));
  });

  it('caps who waits for a connection', async () => {
    await breaker({ maxPendingRequests: 1 }, { maxConnsPerHost: 1 });
    const first = bed.ask({}, { path: '/held' });
    await eventually(() => expect(held).to.have.length(1));
    const second = bed.ask();
    await eventually(async () => expect(await bed.error()).to.equal('circuit_open'));
    expect(seen).to.equal(1);
    held.pop()?.();
    expect([(await first).status, (await second).status]).to.deep.equal([200, 200]);
  });

  it('stays open through activations that do not change it, and is forgotten with it', async () => {
    const circuitBreaker = { failureThreshold: 1, openDuration: '10m' };
    await breaker(circuitBreaker);
    status = 500;
    await bed.ask();
    for (let i = 0; i < 3; i++) {
      await breaker(circuitBreaker, { timeouts: { request: `${20 + i}s` } });
      expect(await bed.error()).to.equal('circuit_open');
    }
    await bed.balanced(ports);
    expect((await bed.ask()).status).to.equal(500);
  });

  it('is not left open by an activation after which it never opens', async () => {
    const circuitBreaker = { failureThreshold: 1, openDuration: '10m' };
    await breaker(circuitBreaker);
    status = 500;
    await bed.ask();
    expect(await bed.error()).to.equal('circuit_open');
    await breaker({ ...circuitBreaker, failureThreshold: 0 });
    await breaker(circuitBreaker);
    expect((await bed.ask()).status).to.equal(500);
  });
});
