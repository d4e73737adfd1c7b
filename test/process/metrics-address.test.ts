// Metrics of all listeners at proxy.metrics.address, apart from the listeners themselves.
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { sampleOf } from '../support/metric-lines.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

describe('proxy.metrics.address', () => {
  let sluice: SluiceProcess | undefined;
  afterEach(() => sluice?.stop());

  it('serves the metrics of all listeners, those that are not on their listener too', async () => {
    const at = await freePort();
    sluice = await startSluice({ more: `proxy: { workers: 2, metrics: { address: "127.0.0.1:${at}" } }` });
    const api = apiClient(sluice.url);
    const [open, moved, silent, taken] = [await freePort(), await freePort(), await freePort(), at];
    const address = '127.0.0.1';
    await api.create('listeners', { name: 'open', address, port: open, metrics: {} });
    await api.create('listeners', { name: 'moved', address, port: moved, metrics: { onListener: false } });
    await api.create('listeners', { name: 'silent', address, port: silent });
    await api.create('listeners', { name: 'taken', address, port: taken });
    await api.create('routes', { name: 'r', match: { path: '/r' }, directResponse: { status: 200 } });
    await api.activateAs('v1');
    for (const port of [open, open, moved, silent]) await call(`http://${address}:${port}`, 'GET', '/r');
    const { status, text, headers } = await call(`http://${address}:${at}`, 'GET', '/metrics');
    expect([status, headers['content-type']]).to.deep.equal([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const labels = 'route="r",group="",method="GET",status_code="200",status_class="2xx"';
    expect(sampleOf(text, `sluice_route_requests_total{listener="open",${labels}}`)).to.equal(2);
    expect(sampleOf(text, `sluice_route_requests_total{listener="moved",${labels}}`)).to.equal(1);
    expect(text).to.match(/^sluice_listener_connections_total\{listener="moved",address="127.0.0.1:\d+"\}/m);
    expect(text).not.to.contain('silent');
    const families = text.match(/^# TYPE \S+/gm) ?? [];
    expect(new Set(families).size).to.equal(families.length);
    const promtool = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    if (promtool.error === undefined) expect(promtool.stderr).not.to.match(/error while linting|parsing|duplicate/i);
    expect((await call(`http://${address}:${moved}`, 'GET', '/metrics')).status).to.equal(404);
    expect((await call(`http://${address}:${open}`, 'GET', '/metrics')).status).to.equal(200);
    expect((await call(`http://${address}:${at}`, 'POST', '/metrics')).status).to.equal(405);
    expect((await call(`http://${address}:${at}`, 'GET', '/r')).status).to.equal(404);
  });

  it('that is taken stops the start and is named', async () => {
    sluice = await startSluice();
    const { host } = new URL(sluice.url);
    const failure = await startSluice({ more: `proxy: { workers: 1, metrics: { address: "${host}" } }` }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    expect(failure).to.match(/the metrics cannot listen at proxy\.metrics\.address 127\.0\.0\.1:\d+: EADDRINUSE/);
  });
});
