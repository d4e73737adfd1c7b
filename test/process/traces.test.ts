// Traces of a whole process at a real collector's door: spans of workers, of the API, of installs.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts';
import { launchProxy } from '../support/proxy-process.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

const telemetry = (receiver: OtlpReceiver, more = 'sampleRatio: 0') =>
  `proxy: { workers: 2 }\ntelemetry:\n  traces:\n    endpoint: ${receiver.url}\n    headers: { authorization: Bearer CANARY }\n    ${more}\n`;

interface Bed {
  readonly sluice: SluiceProcess;
  readonly port: number;
}

/** A route that is checked by a service and forwarded, with one retry. */
async function serve(receiver: OtlpReceiver, service: Upstream, upstream: Upstream, more?: string): Promise<Bed> {
  const sluice = await startSluice({ more: telemetry(receiver, more) });
  const port = await freePort();
  const create = async (kind: string, body: object) => {
    const { status, text } = await call(sluice.url, 'POST', `/api/v1/${kind}`, { body });
    expect(status, text).to.equal(201);
  };
  await create('listeners', { id: 'l', name: 'l', address: '127.0.0.1', port });
  await create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port });
  await create('destinations', { id: 's', name: 's', host: '127.0.0.1', port: service.port });
  await create('middlewares', { id: 'm', name: 'check', type: 'extAuthz', extAuthz: { destinationId: 's' } });
  const retry = { attempts: 1, on: ['server-error'], backoff: { base: '1ms', max: '2ms' } };
  await create('routes', {
    id: 'r',
    name: 'shop',
    middlewareIds: ['m'],
    forward: { destinations: [{ destinationId: 'd' }], retry },
  });
  const { json } = await call(sluice.url, 'POST', '/api/v1/snapshots', { body: { name: 'one' } });
  const { id } = json as { id: string };
  const activated = await call(sluice.url, 'POST', `/api/v1/snapshots/${id}/activate`, { headers: { traceparent } });
  expect(activated.status, activated.text).to.equal(200);
  return { sluice, port };
}

const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`);
  return found;
};

describe('traces of a process', () => {
  const ends: (() => Promise<unknown>)[] = [];
  let told: { readonly service: string[]; readonly upstream: string[] };
  let statuses: number[];
  let receiver: OtlpReceiver;
  let service: Upstream;
  let upstream: Upstream;

  before(async () => {
    receiver = await new OtlpReceiver().start();
    service = await startUpstream('service', (request, response) => {
      told.service.push(String(request.headers.traceparent));
      response.end();
    });
    upstream = await startUpstream('upstream', (request, response) => {
      told.upstream.push(String(request.headers.traceparent));
      response.writeHead(statuses.shift() ?? 200).end('CANARY');
    });
    ends.push(
      () => receiver.stop(),
      () => service.close(),
      () => upstream.close(),
    );
  });
  beforeEach(() => {
    told = { service: [], upstream: [] };
    statuses = [];
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  it('a request with one retry and a check, and an activation down to each worker, span by span', async () => {
    const { sluice, port } = await serve(receiver, service, upstream);
    ends.push(() => sluice.stop());
    const installs = await receiver.until((spans) =>
      expect(spans.filter(({ name }) => name === 'worker install').length).to.equal(2),
    );
    const operation = 'POST /api/v1/snapshots/:id/activate';
    await receiver.until((spans) => named(spans, operation));
    const whose = (span: ReceivedSpan): string =>
      installs.find(({ spanId }) => spanId === span.parentId)?.name ?? 'away';
    const lines = installs.map((span) => `${span.kind} ${span.name} < ${whose(span)}`).sort();
    expect(lines).to.deep.equal([
      'internal apply < propose',
      'internal commit < propose',
      'internal install < propose',
      `internal propose < ${operation}`,
      'internal worker install < install',
      'internal worker install < install',
      `server ${operation} < away`,
    ]);
    expect(new Set(installs.map((span) => span.traceId))).to.deep.equal(new Set([traceId]));
    expect(named(installs, operation).attributes).to.include({ 'http.response.status_code': 200 });
    receiver.spans.length = 0;

    statuses = [503, 200];
    const url = `http://127.0.0.1:${port}`;
    const headers = { traceparent, host: 'shop.example', cookie: 'CANARY', authorization: 'CANARY' };
    const answer = await call(url, 'GET', '/a?CANARY=CANARY', { headers });
    expect(answer.status).to.equal(200);
    const spans = await receiver.until((all) => expect(all.length).to.equal(4));
    const server = named(spans, 'GET shop');
    const [check, first, second] = spans
      .filter(({ kind }) => kind === 'client')
      .sort((a, b) => Number(a.start - b.start));
    expect(server).to.deep.include({ kind: 'server', parentId: '00f067aa0ba902b7', failed: false });
    for (const span of [check, first, second]) {
      expect(span).to.deep.include({ traceId, parentId: server.spanId, kind: 'client', name: 'GET' });
      expect(Number(span?.start)).to.be.at.least(Number(server.start));
    }
    expect([check, first, second].map((span) => span?.attributes['http.response.status_code'])).to.deep.equal([
      200, 503, 200,
    ]);
    expect([check, first, second].map((span) => span?.failed)).to.deep.equal([false, true, false]);
    expect(check?.attributes).to.include({ 'sluice.middleware': 'check', 'sluice.destination': 's' });
    expect(first?.attributes).to.include({ 'sluice.attempt': 1, 'error.type': '503', 'sluice.destination': 'd' });
    expect(second?.attributes).to.include({ 'sluice.attempt': 2, 'http.request.resend_count': 1 });
    expect(server.attributes).to.include({
      'url.path': '/a',
      'http.response.status_code': 200,
      'sluice.route': 'shop',
      'sluice.attempts': 2,
      'sluice.endpoint': `127.0.0.1:${upstream.port}`,
    });
    expect(server.attributes['sluice.snapshot.id']).to.be.a('string');
    expect(server.attributes['sluice.snapshot.index']).to.be.a('number');
    expect(server.events.map(({ name, attributes }) => [name, attributes['sluice.middleware.outcome']])).to.deep.equal([
      ['sluice.middleware', 'called'],
    ]);
    expect(server.resource).to.include({ 'service.name': 'sluice', 'service.instance.id': 'single' });
    const parents = [first, second].map((span) => `00-${traceId}-${span?.spanId}-01`);
    expect(told).to.deep.equal({ service: [`00-${traceId}-${check?.spanId}-01`], upstream: parents });
    expect(JSON.stringify(spans, (_key, value) => (typeof value === 'bigint' ? String(value) : value))).not.to.contain(
      'CANARY',
    );
    expect(receiver.posts.every(({ headers: sent }) => sent.authorization === 'Bearer CANARY')).to.equal(true);
    expect(sluice.output.join('\n')).not.to.contain('CANARY');
  });

  it('a proxy of its own traces alike, in its own name', async () => {
    const { sluice, port } = await serve(receiver, service, upstream);
    ends.push(() => sluice.stop());
    const more = `telemetry: { traces: { endpoint: "${receiver.url}/v1/traces", serviceName: edge } }`;
    const own = launchProxy({ controlPlanes: [sluice.url], proxy: '  id: p1\n  bindAddress: 127.0.0.2', more });
    ends.push(() => own.stop());
    await own.ready();
    const ofOwn = () => receiver.spans.filter(({ resource }) => resource['service.instance.id'] === 'p1');
    const { status } = await call(`http://127.0.0.2:${port}`, 'GET', '/b', { headers: { traceparent } });
    expect(status).to.equal(200);
    await receiver.until(() => expect(ofOwn().length).to.be.at.least(3));
    for (const { resource } of ofOwn()) expect(resource).to.include({ 'service.name': 'edge' });
    expect(named(ofOwn(), 'GET shop').attributes).to.include({ 'url.path': '/b' });
  });

  it('what is gathered goes out when the process ends', async () => {
    receiver.spans.length = 0;
    const { sluice, port } = await serve(receiver, service, upstream, 'sampleRatio: 1');
    expect((await call(`http://127.0.0.1:${port}`, 'GET', '/last', {})).status).to.equal(200);
    expect(await sluice.stop()).to.equal(0);
    expect(receiver.spans.filter(({ attributes }) => attributes['url.path'] === '/last').length).to.equal(1);
  });

  for (const behaviour of ['silent', 500, 'down'] as const) {
    it(`a collector that is ${behaviour} costs spans and one warning, and the end does not wait for it`, async () => {
      const ill = await new OtlpReceiver().start();
      if (behaviour === 'down') await ill.stop();
      else ill.behaviour = behaviour;
      const { sluice, port } = await serve(ill, service, upstream, 'sampleRatio: 1');
      for (let i = 0; i < 50; i++) {
        const { status } = await call(`http://127.0.0.1:${port}`, 'GET', `/${i}`, {});
        expect(status).to.equal(200);
      }
      const warnings = () => sluice.output.filter((line) => line.includes('spans do not reach the collector'));
      if (behaviour !== 'silent') await eventually(() => expect(warnings().length).to.equal(1));
      const started = performance.now();
      expect(await sluice.stop()).to.equal(0);
      expect(performance.now() - started).to.be.below(15_000);
      expect(warnings().length).to.be.within(1, 2);
      if (behaviour !== 'down') await ill.stop();
    });
  }
});
