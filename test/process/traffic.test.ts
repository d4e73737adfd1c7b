// Traffic during faults: the control plane, a proxy worker or an upstream fails while clients send requests.
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Load, startLoad } from '../support/load.ts';
import { needsPreload } from '../support/needs.ts';
import { silentPort } from '../support/silent-port.ts';
import { type TroubledSluice, troubledSluice } from '../support/trouble.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { startVisits } from '../support/visits.ts';

describe('traffic', () => {
  let node: TroubledSluice;
  let upstream: Upstream;
  let api: ApiClient;
  let port: number;
  let site: string;
  let load: Load;

  beforeEach(async () => {
    upstream = await startUpstream('backend', (_request, response) => void response.end('ok'));
    node = await troubledSluice();
    api = apiClient(node.sluice.url);
    port = await freePort();
    site = `http://127.0.0.1:${port}/`;
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    await api.create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port });
    // Among regexes the name decides: this one is the last to be tried.
    const match = { pathRegex: '/.*' };
    await api.create('routes', { name: 'the rest', match, forward: { destinations: [{ destinationId: 'd' }] } });
    await api.activateAs('v1');
    load = startLoad(site, 'ok');
    await servesAgain();
  });

  afterEach(async () => {
    await load.stop();
    await node.sluice.stop('SIGKILL');
    await upstream.close();
  });

  /** Resolves when so many more requests are served. */
  const servesAgain = async (count = 100) => {
    const goal = load.served + count;
    await eventually(() => expect(load.served, load.failed.join('\n')).to.be.at.least(goal));
  };
  const says = (line: string) => eventually(() => expect(node.sluice.output.join('\n')).to.contain(line));

  it('fails no request while 1,000 regex routes are activated, the main thread is blocked and the store fails', async function () {
    needsPreload(this);
    await createRegexRoutes(api, 1_000);
    await api.activateAs('v2');
    // A busy machine may take longer to compile them than the activation waits.
    await eventually(async () => expect(await (await fetch(`${site}items-999/abc/7`)).text()).to.equal('999'));
    await servesAgain();

    await node.make('block');
    const { served } = load;
    const asked = performance.now();
    await api.get('/routes/regex-1');
    expect(performance.now() - asked, 'the main thread was not blocked').to.be.greaterThan(2_000);
    expect(load.served - served).to.be.greaterThan(200);

    await node.make('store');
    await eventually(async () => {
      const { status } = await api.post('/routes', { name: 'late', directResponse: { status: 200 } });
      expect(status).to.be.at.least(500);
    });
    await servesAgain();
    await load.stop();
    expect(load.failed).to.deep.equal([]);
  });

  for (const trouble of ['throw', 'heap'] as const) {
    const how = trouble === 'throw' ? 'throws' : 'runs out of memory';
    it(`loses at most 32 requests to a proxy worker that ${how}, and always finds a listening worker`, async function () {
      needsPreload(this);
      const visits = startVisits(port, { perMinute: 600 });
      await node.make(trouble);
      await says('a proxy worker has ended and is replaced');
      // From here on no client is with the crashed worker any more.
      const later = startVisits(port, { perMinute: 6_000 });
      await servesAgain();
      await says('a new proxy worker serves');
      await servesAgain();
      await eventually(() => expect(later.count).to.be.greaterThan(100));
      await Promise.all([load.stop(), visits.stop(), later.stop()]);
      expect(load.failed.length, load.failed.join('\n')).to.be.at.most(32);
      expect([...load.failed, ...visits.failed].join('\n')).not.to.contain('ECONNREFUSED');
      expect(later.failed).to.deep.equal([]);
    });
  }

  it('is answered 502 at once while its upstream is gone, and served at once when it is back', async () => {
    const { port: upstreamPort } = upstream;
    await upstream.close();
    await eventually(() => expect(load.failed.length).to.be.greaterThan(200));
    const answer = await fetch(site);
    expect(answer.status).to.equal(502);
    // Refused, and not given up after a time.
    expect(await answer.json()).to.include({ error: 'connection_refused' });
    await load.stop();
    expect(load.failed.filter((answer) => !answer.startsWith('502 '))).to.deep.equal([]);

    upstream = await startUpstream('backend', (_request, response) => void response.end('ok'), upstreamPort);
    load = startLoad(site, 'ok');
    await servesAgain();
    await load.stop();
    expect(load.failed).to.deep.equal([]);
  });

  it('is answered 504 within the connect timeout when the address of its upstream does not answer', async () => {
    const silent = await silentPort();
    const { port } = silent;
    const within = (connect: string) => ({ host: '127.0.0.1', port, options: { timeouts: { connect } } });
    await api.put('/destinations/d', { name: 'd', ...within('1s') });
    await api.create('destinations', { id: 'patient', name: 'patient', ...within('60s') });
    const forward = { destinations: [{ destinationId: 'patient' }] };
    await api.create('routes', { name: 'patient', match: { path: '/patient' }, forward });
    await api.activateAs('v2');
    // By the order of two answers and not by the time of one: the default of both is five seconds.
    const ended = new AbortController();
    const patient = fetch(`${site}patient`, { signal: ended.signal }).catch(() => undefined);
    const asked = performance.now();
    const answer = await Promise.race([fetch(site), patient]);
    const tookMs = performance.now() - asked;
    ended.abort();
    silent.close();
    expect(answer?.url).to.equal(site);
    expect(answer?.status).to.equal(504);
    expect(await answer?.json()).to.include({ error: 'timeout' });
    expect(tookMs).to.be.at.least(900);
  });
});

async function createRegexRoutes(api: ApiClient, count: number): Promise<void> {
  const create = (number: number) =>
    api.create('routes', {
      id: `regex-${number}`,
      name: `regex ${number}`,
      match: { pathRegex: `/items-${number}/[a-z]{2,8}/(\\d+)(/[^/]+)*` },
      directResponse: { status: 200, body: String(number) },
    });
  const numbers = Array.from({ length: count }, (_, number) => number);
  for (let from = 0; from < count; from += 50) await Promise.all(numbers.slice(from, from + 50).map(create));
}
