// Metrics that a listener serves: families, counts and their lives, for unit tests and tests of threads.
import { expect } from 'chai';
import type { Configuration } from '../../src/model/proxy-config.ts';
import { keyed, storedConsumers } from './consumers.ts';
import { freePort } from './free-port.ts';
import { secretHashes } from './password-hashes.ts';
import { forwarding, ProxyBed, rawExchange } from './proxy-bed.ts';

/** Samples by `name{labels}`; labels in the order in which they stand. */
async function scrape(port: number): Promise<{ samples: Map<string, string>; types: string[]; text: string }> {
  const text = await rawExchange(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  expect(head).to.match(/^HTTP\/1\.1 200 OK/);
  expect(head).to.contain('Content-Type: text/plain; version=0.0.4; charset=utf-8');
  const lines = body.split('\n').filter((line) => line !== '');
  const samples = lines
    .filter((line) => !line.startsWith('#'))
    .map((line): [string, string] => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), line.slice(at + 1)];
    });
  return { samples: new Map(samples), types: lines.filter((line) => line.startsWith('# TYPE')), text: body };
}

const get = (port: number, path: string, method = 'GET'): Promise<string> =>
  rawExchange(port, `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);

/** Tests of a listener's metrics, with the given number of worker threads; undefined: a worker in the calling thread. */
export function describeListenerMetrics(workers: number | undefined): void {
  describe(`metrics of a listener, ${workers === undefined ? 'a worker in the calling thread' : `${workers} workers`}`, () => {
    let bed: ProxyBed;
    let port: number;

    beforeEach(async () => {
      bed = new ProxyBed({ workers });
      port = await freePort();
    });
    afterEach(() => bed.end());

    const all = { route: true, destination: true, endpoint: true, middleware: true, listener: true };

    it('are 18 families with defaults and 22 with all dimensions, before any traffic', async () => {
      await bed.install(forwarding(port, 1, { listener: { metrics: {} } }));
      expect((await scrape(port)).types).to.have.length(18);
      await bed.install(forwarding(port, 1, { listener: { metrics: { collect: all } } }));
      expect((await scrape(port)).types).to.have.length(22);
    });

    it('count what was forwarded, answered, refused and not found, and no scrape', async () => {
      const upstream = await bed.upstream((request, response) => {
        request.resume();
        response.writeHead(request.url === '/r/bad' ? 503 : 200).end('hello');
      });
      const plan = forwarding(port, upstream, {
        listener: { metrics: { collect: all } },
        route: { match: { pathPrefix: '/r' } },
      });
      await bed.install(plan);
      for (let i = 0; i < 5; i++) await get(port, '/r/x');
      await get(port, '/r/bad', 'POST');
      await get(port, '/r/x', 'PROPFIND');
      await get(port, '/nowhere');
      await scrape(port);
      const { samples } = await scrape(port);
      const route = 'route="r",group=""';
      const own = `listener="l",address="0.0.0.0:${port}"`;
      const ok = 'status_code="200",status_class="2xx"';
      const expected: Readonly<Record<string, string>> = {
        [`sluice_route_requests_total{${route},method="GET",${ok}}`]: '5',
        [`sluice_route_requests_total{${route},method="POST",status_code="503",status_class="5xx"}`]: '1',
        [`sluice_route_requests_total{${route},method="OTHER",${ok}}`]: '1',
        [`sluice_route_duration_seconds_count{${route},method="GET"}`]: '5',
        [`sluice_route_duration_seconds_bucket{${route},method="GET",le="+Inf"}`]: '5',
        [`sluice_route_response_bytes_total{${route}}`]: '35',
        [`sluice_route_request_bytes_total{${route}}`]: '0',
        [`sluice_route_inflight_requests{${route}}`]: '0',
        [`sluice_destination_requests_total{destination="d",${ok}}`]: '6',
        'sluice_destination_inflight_requests{destination="d"}': '0',
        [`sluice_endpoint_requests_total{destination="d",endpoint="127.0.0.1:${upstream}",${ok}}`]: '6',
        [`sluice_listener_connections_total{${own}}`]: '10',
        [`sluice_proxy_errors_total{${own},type="no_route",status_code="404"}`]: '1',
      };
      const shown = Object.fromEntries(Object.keys(expected).map((key) => [key, samples.get(key)]));
      expect(shown).to.deep.equal(expected);
      expect([...samples.keys()].filter((key) => key.includes('no_route'))).to.have.length(1);
    });

    it('count by consumer where they are asked to, by name and status', async () => {
      const upstream = await bed.upstream((_, response) => response.end('x'));
      const apiKey = { id: 'm', name: 'm', type: 'apiKey', apiKey: { sources: { query: 'key' } } } as const;
      const install = (collect: object, consumers: readonly object[]): Promise<void> =>
        bed.install({
          ...forwarding(port, upstream, { listener: { metrics: { collect } }, route: { middlewareIds: ['m'] } }),
          middlewares: [apiKey],
          consumers: storedConsumers(...consumers),
        });
      const counted = async (): Promise<object> =>
        Object.fromEntries([...(await scrape(port)).samples].filter(([name]) => name.includes('consumer')));
      const [one, two] = [keyed('one', ['k1']), keyed('two', ['k2'])];
      await install({}, [one, two]);
      await get(port, '/?key=k1');
      expect(await counted(), 'off by default').to.deep.equal({});
      await install({ consumer: true }, [one, two]);
      for (const path of ['/?key=k1', '/?key=k1', '/?key=k2', '/?key=k3', '/']) await get(port, path);
      const labels = (name: string) =>
        `sluice_consumer_requests_total{consumer="${name}",status_code="200",status_class="2xx"}`;
      expect(await counted()).to.deep.equal({ [labels('one')]: '2', [labels('two')]: '1' });
    });

    it('count what compress, basicAuth, rateLimit and error pages do', async () => {
      const upstream = await bed.upstream((request, response) => {
        request.resume();
        response.writeHead(200, { 'content-type': 'text/plain' }).end('a'.repeat(10_000));
      });
      const middlewares = [
        { id: 'c', name: 'c', type: 'compress', compress: { algorithms: ['gzip'] } },
        { id: 'b', name: 'b', type: 'basicAuth', basicAuth: { users: `ann:${secretHashes.bcrypt}` } },
        { id: 'l', name: 'l', type: 'rateLimit', rateLimit: { requestsPerSecond: 0.001, burst: 3, key: '"all"' } },
      ] as unknown as Configuration['middlewares'];
      await bed.install({
        ...forwarding(port, upstream, {
          listener: { metrics: {}, errorPages: [{ statuses: ['404'], bodyFrom: { text: 'gone' } }] },
          route: { match: { path: '/up' }, middlewareIds: ['l', 'b', 'c'] },
        }),
        middlewares,
      });
      const ask = (path: string, password: string) => {
        const credentials = Buffer.from(`ann:${password}`).toString('base64');
        const fields = `Host: a\r\nAccept-Encoding: gzip\r\nAuthorization: Basic ${credentials}\r\nConnection: close`;
        return rawExchange(port, `GET ${path} HTTP/1.1\r\n${fields}\r\n\r\n`);
      };
      expect(await ask('/up', 'wrong')).to.match(/^HTTP\/1\.1 401/);
      expect(await ask('/up', 'secret')).to.match(/^HTTP\/1\.1 200/);
      expect(await ask('/up', 'secret')).to.match(/^HTTP\/1\.1 200/);
      expect(await ask('/up', 'secret')).to.match(/^HTTP\/1\.1 429/);
      for (let i = 0; i < 2; i++) expect(await get(port, '/nowhere')).to.match(/gone$/);
      const { samples } = await scrape(port);
      const of = (name: string, labels: string): number => Number(samples.get(`sluice_${name}{${labels}}`));
      const coded = 'middleware="c",type="compress",coding="gzip"';
      expect(of('compress_responses_total', coded)).to.equal(2);
      expect(of('compress_input_bytes_total', coded)).to.equal(20_000);
      expect(of('compress_output_bytes_total', coded)).to.be.within(20, 2_000);
      const checked = (result: string) =>
        of('basic_auth_verifications_total', `middleware="b",type="basicAuth",result="${result}"`);
      // Each worker remembers for itself.
      expect([checked('wrong'), checked('verified') + (checked('known') || 0)]).to.deep.equal([1, 2]);
      const tokens = (result: string) =>
        of('rate_limit_tokens_total', `middleware="l",type="rateLimit",result="${result}"`);
      expect([tokens('taken'), tokens('refused')]).to.deep.equal([3, 1]);
      expect(of('error_pages_total', `listener="l",address="0.0.0.0:${port}",status_code="404"`)).to.equal(2);
    });

    it('count PROXY heads by result', async () => {
      const upstream = await bed.upstream((_, response) => response.end('x'));
      const metricsPort = await freePort();
      const serve = (trustedProxies: readonly string[], proxyProtocol: string): Promise<void> => {
        const { listeners = [], ...rest } = forwarding(port, upstream, {
          listener: { metrics: {}, trustedProxies, proxyProtocol, timeouts: { clientHeader: '2s' } },
        });
        return bed.install({ ...rest, listeners: [...listeners, { id: 'm', name: 'm', port: metricsPort }] });
      };
      const head = 'PROXY TCP4 192.0.2.9 198.51.100.1 4711 443\r\n';
      const plain = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
      await serve([], 'required');
      expect(await rawExchange(port, head + plain)).to.equal('');
      await serve(['127.0.0.1'], 'optional');
      expect(await rawExchange(port, head + plain)).to.match(/x$/);
      expect(await rawExchange(port, plain)).to.match(/x$/);
      expect(await rawExchange(port, 'PROXY TCP4 x\r\n')).to.equal('');
      const { samples } = await scrape(port);
      const of = (result: string) =>
        samples.get(`sluice_listener_proxy_headers_total{listener="l",address="0.0.0.0:${port}",result="${result}"}`);
      // The scrape itself came without a head.
      expect([of('stranger'), of('read'), of('absent'), of('malformed')]).to.deep.equal(['1', '1', '2', '1']);
    });

    it('survive activations, and start again when buckets change or the listener goes', async () => {
      const upstream = await bed.upstream((_, response) => response.end('x'));
      const install = (metrics: object | undefined, id = 'l'): Promise<void> =>
        bed.install(forwarding(port, upstream, { listener: { id, metrics } }));
      const counted = async (): Promise<string | undefined> => {
        const { samples } = await scrape(port);
        return samples.get('sluice_route_response_bytes_total{route="r",group=""}');
      };
      await install({});
      await get(port, '/');
      await install({ collect: { endpoint: true } });
      expect(await counted()).to.equal('1');
      await install({ histograms: { durationBuckets: [1, 2] } });
      expect(await counted()).to.equal(undefined);
      await get(port, '/');
      await install({ histograms: { durationBuckets: [1, 2] } }, 'other');
      expect(await counted()).to.equal(undefined);
    });
  });
}
