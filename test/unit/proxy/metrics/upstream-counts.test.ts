// Counts of exchanges with an upstream, and of copies of a mirror (contract.md §7.9, §7.13, §10.3).
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';

describe('metrics of upstreams', () => {
  let bed: PolicyBed;
  beforeEach(async () => {
    bed = await PolicyBed.open();
  });
  afterEach(() => bed.end());

  const serve = (...parts: Parameters<PolicyBed['configuration']>) => {
    const config = bed.configuration(...parts);
    const listeners = config.listeners?.map((listener) => ({ ...listener, metrics: { collect: { endpoint: true } } }));
    return bed.install({ ...config, listeners: listeners ?? [] });
  };
  /** Samples of the family, by labels. */
  const samples = async (family: string): Promise<Record<string, number>> => {
    const { body } = await bed.ask({}, { path: '/metrics' });
    const found = body.matchAll(new RegExp(`^sluice_${family}\\{(.*)\\} (.*)$`, 'gm'));
    return Object.fromEntries([...found].map(([, labels, value]) => [labels, Number(value)]));
  };

  it('leave out what was refused a place among those who wait for a connection', async () => {
    const held: ServerResponse[] = [];
    const [port = 0] = await bed.named(['slow'], (_name, _request, response) => void held.push(response));
    await serve([port], { maxConnsPerHost: 1, circuitBreaker: { maxPendingRequests: 1 } });
    const asked = [bed.ask(), bed.ask()];
    await eventually(() => expect(held).to.have.length(1));
    await eventually(async () => expect(await bed.error()).to.equal('circuit_open'));
    expect(await samples('destination_inflight_requests')).to.deep.equal({ 'destination="d"': 2 });
    held[0]?.end('first');
    await eventually(() => expect(held).to.have.length(2));
    held[1]?.end('second');
    await Promise.all(asked);
    const ok = 'status_code="200",status_class="2xx"';
    expect(await samples('destination_requests_total')).to.deep.equal({ [`destination="d",${ok}`]: 2 });
    expect(await samples('endpoint_requests_total')).to.deep.equal({
      [`destination="d",endpoint="127.0.0.1:${port}",${ok}`]: 2,
    });
    expect(await samples('destination_duration_seconds_count')).to.deep.equal({ 'destination="d"': 2 });
    expect(await samples('destination_inflight_requests')).to.deep.equal({ 'destination="d"': 0 });
  });

  it('count an exchange whose retries find no endpoint any more, and it is not under way afterwards', async () => {
    const health = { path: '/health', interval: '1s', unhealthyThreshold: 1 };
    let well = true;
    const [port = 0] = await bed.named(['ill'], (_name, { url }, response) => {
      if (url !== '/health') well = false;
      response.writeHead(well ? 200 : 503).end();
    });
    const backoff = { base: '3s', max: '3s' };
    await serve([port], { healthCheck: health }, { retry: { attempts: 1, backoff } });
    expect(await bed.error()).to.equal('no_endpoint');
    const labels = 'destination="d",status_code="502",status_class="5xx"';
    expect(await samples('destination_requests_total')).to.deep.equal({ [labels]: 1 });
    expect(await samples('destination_inflight_requests')).to.deep.equal({ 'destination="d"': 0 });
  });

  it('count copies that were sent', async () => {
    const ports = await bed.named(['primary']);
    const copied = async (port: number) => {
      const mirror = { id: 'm', name: 'm', host: '127.0.0.1', port };
      await serve(ports, {}, { mirror: { destinationId: 'm' } }, { destinations: [mirror] });
      await bed.ask();
    };
    let copies = 0;
    const [port = 0] = await bed.named(['mirror'], (_name, _request, response) => {
      copies++;
      response.end();
    });
    await copied(await freePort());
    await eventually(async () => {
      const errors = await samples('endpoint_consecutive_5xx');
      expect(Object.entries(errors).find(([labels]) => labels.startsWith('destination="m"'))?.[1]).to.equal(1);
    });
    await copied(port);
    await eventually(() => expect(copies).to.equal(1));
    expect(await samples('mirror_requests_total')).to.deep.equal({ 'route="r",destination="m"': 1 });
  });

  it('count the copies of several mirrors by their destinations', async () => {
    const ports = await bed.named(['primary']);
    let copies = 0;
    const [m = 0, n = 0] = await bed.named(['m', 'n'], (_name, _request, response) => {
      copies++;
      response.end();
    });
    const mirror = (id: string, port: number) => ({ id, name: id, host: '127.0.0.1', port });
    const mirrors = [{ destinationId: 'm' }, { destinationId: 'n' }];
    await serve(ports, {}, { mirrors }, { destinations: [mirror('m', m), mirror('n', n)] });
    await bed.ask();
    await eventually(() => expect(copies).to.equal(2));
    const counted = { 'route="r",destination="m"': 1, 'route="r",destination="n"': 1 };
    await eventually(async () => expect(await samples('mirror_requests_total')).to.deep.equal(counted));
  });

  it('count a fixed answer of a share for its route and for no destination', async () => {
    const ports = await bed.named(['primary']);
    await serve(ports, {}, { destinations: [{ directResponse: { status: 418 } }] });
    expect((await bed.ask()).status).to.equal(418);
    await eventually(async () => {
      expect(Object.keys(await samples('route_requests_total'))).to.have.length(1);
      expect(await samples('destination_requests_total')).to.deep.equal({});
    });
  });
});
