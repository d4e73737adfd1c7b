import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { familiesOf, sampleOf } from '../support/metric-lines.ts';
import { followStream } from '../support/request-stream.ts';
import { body } from '../support/resources.ts';

describe('GET /metrics', () => {
  let api: ApiServer;

  beforeEach(async () => {
    api = await ApiServer.start({ options: { apiKeys: [{ name: 'ops', key: 'k', role: 'viewer' }] } });
  });

  afterEach(() => api.stop());

  const key = 'k';

  it('is Prometheus text at the root, for readers', async () => {
    const { status, headers, text } = await api.call('GET', '//metrics', { key });
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(headers['cache-control']).to.equal('no-store');
    expect(familiesOf(text)).to.include.members(['sluice_raft_proposals_total', 'sluice_raft_reads_total']);
    expect((await api.call('GET', '//metrics')).status).to.equal(401);
    expect((await api.call('GET', '/metrics', { key })).status, 'where the document says').to.equal(200);
  });

  it('counts reads by how fresh they had to be', async () => {
    for (const query of ['', '', '?consistency=stale', '?consistency=stale&minRevision=0']) {
      await api.call('GET', `/routes${query}`, { key });
    }
    const { text } = await api.call('GET', '//metrics', { key });
    expect(sampleOf(text, 'sluice_raft_reads_total{mode="linearizable"}')).to.equal(2);
    expect(sampleOf(text, 'sluice_raft_reads_total{mode="stale"}')).to.equal(2);
  });

  it('counts what the API answers, by operation and status, and its streams', async () => {
    await api.call('GET', '/routes', { key });
    await api.call('GET', '/routes/x', { key });
    await api.call('GET', '/nowhere', { key });
    await api.call('GET', '/routes');
    const stream = await followStream(`${api.base}/api/v1/requests/stream`, { authorization: `Bearer ${key}` });
    const { text } = await api.call('GET', '//metrics', { key });
    expect(sampleOf(text, 'sluice_api_requests_total{operation="listRoutes",status="200"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_api_requests_total{operation="listRoutes",status="401"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_api_requests_total{operation="getRoute",status="404"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_api_requests_total{operation="none",status="404"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_api_request_duration_seconds_count{operation="listRoutes"}')).to.equal(2);
    expect(sampleOf(text, 'sluice_api_streams{stream="requests"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_api_streams{stream="snapshot"}')).to.equal(0);
    expect(sampleOf(text, 'sluice_store_entities{kind="routes"}')).to.equal(0);
    familiesOf(text);
    stream.close();
  });

  it('shows no secret', async () => {
    const open = await ApiServer.start();
    await open.call('POST', '/secrets', { body: body('secrets', 'canary', { value: 'CANARY' }) });
    expect((await open.call('GET', '//metrics')).text).not.to.match(/canary/i);
    await open.stop();
  });
});
