// The timers of contract.md §7.3 and the cap on gRPC's own (§7.13), through the proxy.
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';
import { silentPort } from '../../../support/silent-port.ts';

describe('timeouts', () => {
  let bed: PolicyBed;
  let ports: number[];
  beforeEach(async () => {
    bed = await PolicyBed.open();
    ports = await bed.named(['a'], (_, request, response) => {
      if (request.url === '/drip') {
        response.writeHead(200).write('x');
        const drip = setInterval(() => response.write('x'), 10);
        response.on('close', () => clearInterval(drip));
      }
      if (request.url === '/echo') response.end(request.headers['grpc-timeout'] ?? 'none');
    });
  });
  afterEach(() => bed.end());

  const error = async () => JSON.parse((await bed.ask()).body) as { error: string; status: number };

  it('request: 504 before the response, a cut connection after it has begun', async () => {
    await bed.balanced(ports, { timeouts: { request: '100ms' } });
    expect(await error()).to.include({ error: 'timeout', status: 504, destination: 'd' });
    // On a busy machine the head itself may come too late now and then.
    await eventually(async () => {
      const cut = await bed.ask({}, { path: '/drip' }).catch((reason: unknown) => reason);
      expect(cut).to.be.instanceOf(Error);
    });
  });

  it("the route's takes the place of the destination's, also a larger one", async () => {
    await bed.balanced(ports, { timeouts: { request: '50ms' } }, { timeouts: { request: '400ms' } });
    const startedMs = performance.now();
    expect((await error()).status).to.equal(504);
    expect(performance.now() - startedMs).to.be.at.least(390);
  });

  it('responseHeader: 504', async () => {
    await bed.balanced(ports, { timeouts: { responseHeader: '100ms' } });
    expect(await error()).to.include({ error: 'timeout', status: 504 });
  });

  it('connect: 504', async () => {
    const silent = await silentPort();
    bed.atEnd(async () => silent.close());
    await bed.balanced([silent.port], { timeouts: { connect: '100ms' } });
    expect(await error()).to.include({ error: 'timeout', status: 504 });
  });

  it('expectContinue: the body is sent anyway', async () => {
    const bodies: string[] = [];
    const upstream = await bed.rawUpstream((socket) => {
      socket.on('data', (chunk: Buffer) => {
        if (chunk.toString().endsWith('held back')) {
          bodies.push('held back');
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        }
      });
    });
    await bed.balanced([upstream.port], { timeouts: { expectContinue: '100ms' } });
    const wire = bed.wire(bed.port);
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n');
    await wire.until(/100 Continue/);
    wire.send('held back');
    await wire.until(/ok$/);
    expect(bodies).to.deep.equal(['held back']);
  });

  it('idleConnection: an unused connection is closed', async () => {
    const upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    await bed.balanced([upstream.port], { timeouts: { idleConnection: '100ms' } });
    await bed.ask();
    expect(upstream.sockets.size).to.equal(1);
    await eventually(() => expect(upstream.sockets.size).to.equal(0));
  });

  it('grpc-timeout is capped; what is shorter, absent or not one stays as it is', async () => {
    const echo = async (value: string | undefined) =>
      (await bed.ask(value === undefined ? {} : { 'grpc-timeout': value }, { path: '/echo' })).body;
    await bed.balanced(ports, {}, { maxGrpcTimeout: '2s' });
    expect([await echo('1M'), await echo('1S'), await echo(undefined), await echo('soon')]).to.deep.equal([
      '2000m',
      '1S',
      'none',
      'soon',
    ]);
    await bed.balanced(ports, {}, { maxGrpcTimeout: '0s' });
    expect(await echo('1M')).to.equal('1M');
  });

  it('grpc-timeout that a middleware has set is capped as well, and said once', async () => {
    const config = bed.configuration(ports, {}, { maxGrpcTimeout: '2s' });
    const headers = { requestHeadersToAdd: [{ key: 'grpc-timeout', value: '1M' }] };
    const routes = (config.routes ?? []).map((route) => ({ ...route, middlewareIds: ['m'] }));
    await bed.install({ ...config, routes, middlewares: [{ id: 'm', name: 'm', type: 'headers', headers }] });
    expect((await bed.ask({ 'grpc-timeout': '5S' }, { path: '/echo' })).body).to.equal('2000m');
  });
});
