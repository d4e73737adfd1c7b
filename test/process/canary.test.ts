// Secrecy of what clients send: canaries in queries, headers, cookies and bodies of a thousand requests are searched for in
// all outputs of a node.
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { OtlpReceiver } from '../support/otlp-receiver.ts';
import { rawExchange } from '../support/proxy-bed.ts';
import { followStream } from '../support/request-stream.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const canary = 'CANARY-5f1d';
const requests = 1_000;

describe('canaries in a thousand requests', () => {
  let node: SluiceProcess;
  let upstream: Upstream;
  let api: ApiClient;
  let port: number;
  let receiver: OtlpReceiver;

  before(async () => {
    upstream = await startUpstream('backend', (request, response) => {
      request.resume().on('end', () => {
        response.writeHead(request.url?.startsWith('/bad') ? 500 : 200, { 'set-cookie': `session=${canary}` });
        response.end(canary);
      });
    });
    receiver = await new OtlpReceiver().start();
    node = await startSluice({
      logLevel: 'debug',
      more:
        'proxy: { workers: 2 }\ntelemetry: { recentRequestHeaders: [X-Kind, Authorization, Cookie], ' +
        `traces: { endpoint: ${receiver.url}, sampleRatio: 1 } }`,
    });
    api = apiClient(node.url);
    port = await freePort();
    const collect = { route: true, destination: true, endpoint: true, middleware: true, listener: true };
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port, metrics: { collect } });
    await api.create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port });
    await api.create('destinations', { id: 'down', name: 'down', host: '127.0.0.1', port: await freePort() });
    const fields = {
      line: '${request.method} ${request.path} ${request.host} ${response.status} ${error} ${route.name} ${endpoint}',
      credentials: '${request.header.authorization} ${request.header.cookie} ${response.header.set-cookie}',
    };
    await api.create('middlewares', {
      ...{ id: 'log', name: 'log', type: 'accessLog' },
      accessLog: { path: 'stdout', json: true, onRequest: { fields }, onResponse: { fields } },
    });
    await api.create('middlewares', {
      id: 'rule',
      name: 'rule',
      type: 'inlineAuthz',
      inlineAuthz: { rules: [{ cel: 'false', action: 'allow' }], defaultAction: 'deny' },
    });
    const to = (id: string, destinationId: string, middlewareIds: string[]) =>
      api.create('routes', {
        ...{ id, name: id, match: { pathPrefix: `/${id}` }, middlewareIds },
        forward: { destinations: [{ destinationId }] },
      });
    await to('ok', 'd', ['log']);
    await to('bad', 'd', ['log']);
    await to('down', 'down', ['log']);
    await to('denied', 'd', ['log', 'rule']);
    await api.activateAs('v1');
  });

  after(async () => {
    await node.stop();
    await upstream.close();
    await receiver.stop();
  });

  const paths = ['/ok', '/bad', '/down', '/denied', '/none', '/ok/deep'];
  const methods = ['GET', 'POST', 'PUT', 'PROPFIND'];

  function requestOf(i: number): string {
    const path = paths[i % paths.length] ?? '/ok';
    const body = `{"password":"${canary}"}`;
    const broken = i % 50 === 49 ? `X-Broken ${canary}\r\n` : '';
    return (
      `${methods[i % methods.length]} ${path}?token=${canary}&${canary}&page=2&a=b%20${canary} HTTP/1.1\r\nHost: shop\r\n` +
      `Authorization: Bearer ${canary}\r\nCookie: session=${canary}\r\nX-Kind: gold\r\nX-Api-Key: ${canary}\r\n${broken}` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
    );
  }

  it('appear in no metric, trace, log line, or recent request', async () => {
    const stream = await followStream(`${node.url}/api/v1/requests/stream`);
    let next = 0;
    const client = async (): Promise<void> => {
      for (let i = next++; i < requests; i = next++) await rawExchange(port, requestOf(i));
    };
    await Promise.all(Array.from({ length: 16 }, client));
    const lines = (): number => node.output.filter((line) => line.includes('credentials')).length;
    // Two lines for each that a route with the log has won.
    await eventually(() => expect(lines()).to.be.above(1_500));

    const { body } = await api.get<{ requests: Record<string, unknown>[] }>('/requests?limit=10000');
    expect(body.requests.length).to.be.above(500);
    expect(body.requests.find(({ path }) => path === '/ok')).to.deep.include({
      params: ['token', 'page', 'a'],
      headers: { 'x-kind': 'gold', authorization: '[redacted]', cookie: '[redacted]' },
    });
    const metrics = await rawExchange(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const own = await (await fetch(`${node.url}/metrics`)).text();
    await eventually(() => expect(stream.events.length).to.be.above(100));
    stream.close();
    const spans = await receiver.until((all) =>
      expect(all.filter(({ kind }) => kind === 'server').length).to.be.above(900),
    );

    const told: Readonly<Record<string, string>> = {
      'the log': node.output.join('\n'),
      'recent requests': JSON.stringify(body),
      traces: JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
      'the stream of requests': JSON.stringify(stream.events),
      'metrics of the listener': metrics,
      'metrics of the node': own,
    };
    for (const [place, text] of Object.entries(told)) expect(text.includes(canary), place).to.equal(false);
    // Clients make up no label sets.
    expect([...new Set(metrics.match(/method="[^"]*"/g))].sort()).to.deep.equal(
      ['GET', 'OTHER', 'POST', 'PUT'].map((method) => `method="${method}"`),
    );
  });
});
