// Endpoints that are left out because they fail (contract.md §7.10, §7.11), through the proxy.
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';

describe('endpoints that fail', () => {
  let bed: PolicyBed;
  let bad: Set<string>;
  let probes: string[];
  let ports: number[];
  beforeEach(async () => {
    bed = await PolicyBed.open();
    [bad, probes] = [new Set(), []];
    ports = await bed.named(['a', 'b', 'c'], (name, request, response) => {
      if (request.url === '/health') probes.push(name);
      response.writeHead(bad.has(name) ? 503 : 200).end(name);
    });
  });
  afterEach(() => bed.end());

  /** Names that answer in so many requests. */
  const answering = async (count = 12): Promise<string> => [...new Set(await bed.bodies(count))].sort().join('');

  it('are ejected after so many failures in a row, and come back', async () => {
    await bed.balanced(ports, { outlierDetection: { consecutive5xx: 2, baseEjectionTime: '300ms', interval: '50ms' } });
    bad.add('b');
    await bed.bodies(6);
    expect(await answering()).to.equal('ac');
    bad.clear();
    await eventually(async () => expect(await answering()).to.equal('abc'));
  });

  it('are ejected up to a share of all, and while they are the endpoint that is left serves', async () => {
    const outlierDetection = { consecutiveGatewayErrors: 1, consecutive5xx: 0, maxEjectionPercent: 70 };
    await bed.balanced(ports, { outlierDetection });
    for (const name of ['a', 'b', 'c']) bad.add(name);
    await bed.bodies(9);
    expect(await answering()).to.have.length(1);
  });

  it('are not ejected where no other is left, nor more of them than may be, when a pool becomes smaller', async () => {
    const outlierDetection = { consecutive5xx: 1, baseEjectionTime: '10m', maxEjectionPercent: 70 };
    const [a = 0, b = 0, c = 0] = ports;
    for (const name of ['a', 'b']) bad.add(name);
    await bed.balanced([a, b, c], { outlierDetection });
    await bed.bodies(3);
    expect(await answering()).to.equal('c');
    bad.clear();
    await bed.balanced([a, b], { outlierDetection });
    expect(await answering()).to.equal('a');
    await bed.balanced([b], { outlierDetection });
    expect(await answering()).to.equal('b');
  });

  it('are probed, left out, and taken back; the checks go on through activations', async () => {
    const healthCheck = { path: '/health', interval: '1s', unhealthyThreshold: 1, healthyThreshold: 1 };
    bad.add('a');
    await bed.balanced(ports, { healthCheck });
    await eventually(async () => expect(await answering()).to.equal('bc'));
    await eventually(() => expect(new Set(probes)).to.deep.equal(new Set(['a', 'b', 'c'])));
    await bed.balanced(ports, { healthCheck, timeouts: { request: '20s' } });
    expect(await answering()).to.equal('bc');
    bad.clear();
    await eventually(async () => expect(await answering()).to.equal('abc'));
  });

  it('all of them: no_endpoint; and as destination of several they do not take part', async () => {
    const healthCheck = { path: '/health', interval: '1s', unhealthyThreshold: 1 };
    for (const name of ['a', 'b', 'c']) bad.add(name);
    await bed.balanced(ports, { healthCheck });
    await eventually(async () => {
      const { status, body } = await bed.ask();
      expect(status).to.equal(502);
      expect(JSON.parse(body)).to.include({ error: 'no_endpoint', message: 'no healthy endpoint', destination: 'd' });
      expect(JSON.parse(body)).not.to.have.property('endpoint');
    });
    const [spare = 0] = await bed.named(['spare']);
    const destinations = [{ id: 'e', name: 'e', host: '127.0.0.1', port: spare }];
    const both = { destinations: ['d', 'e'].map((destinationId, i) => ({ destinationId, weight: i === 0 ? 99 : 1 })) };
    await bed.balanced(ports, { healthCheck }, both, { destinations });
    expect(await answering()).to.equal('spare');
    await bed.balanced(ports);
    expect((await bed.ask()).status).to.equal(503);
  });

  it('endpoints that stay keep what is known of them when others come and go', async () => {
    const outlierDetection = { consecutive5xx: 1, baseEjectionTime: '10m', maxEjectionPercent: 50 };
    const [a = 0, b = 0, c = 0] = ports;
    bad.add('b');
    await bed.balanced([a, b], { outlierDetection });
    await bed.bodies(2);
    expect(await answering()).to.equal('a');
    await bed.balanced([c, b, a], { outlierDetection });
    expect(await answering()).to.equal('ac');
    await bed.balanced([c, a], { outlierDetection });
    bad.clear();
    await bed.balanced([c, b, a], { outlierDetection });
    expect(await answering()).to.equal('abc');
  });
});
