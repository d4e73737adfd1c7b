// Self-observation of a real node: its log, whose level changes at run time in all threads, and the vitals of its threads.
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { familiesOf, sampleOf } from '../support/metric-lines.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

describe('self-observation of a node', () => {
  let node: SluiceProcess;
  let api: ApiClient;

  before(async () => {
    node = await startSluice({
      controlPlane: '  auth: { apiKeys: [{ name: ops, key: k }, { name: eyes, key: v, role: viewer }] }',
      more: 'proxy: { workers: 2 }',
    });
    api = apiClient(node.url, { authorization: 'Bearer k' });
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port: await freePort() });
  });
  after(() => node.stop());

  const lines = (text: string): Record<string, unknown>[] =>
    node.output.filter((line) => line.includes(text)).map((line) => JSON.parse(line));

  it('has a line per activation with who, what, and how long until every proxy had it', async () => {
    await api.activateAs('v1');
    await eventually(() => expect(lines('an activation has reached every proxy')).to.have.length(1));
    const [line] = lines('an activation has reached every proxy');
    expect(line).to.include({
      title: 'v1',
      by: 'ops',
      reason: 'activated',
      proxies: 1,
      module: 'fleet',
      level: 'info',
    });
    expect(line?.ms).to.be.within(0, 60_000);
  });

  it('logs more of one module after a change of its level, in its workers too', async () => {
    const compiled = (): number => lines('has compiled a configuration').length;
    expect(compiled()).to.equal(0);
    const { status, body } = await api.put('/log-level', { level: 'debug', module: 'proxy' });
    expect([status, body.level]).to.deep.equal([200, 'info']);
    expect((await api.get('/log-level')).body).to.deep.equal(body);
    expect(body.modules).to.include({ proxy: 'debug', api: 'info' });
    await api.activateAs('v2');
    await eventually(() => expect(compiled()).to.equal(2));
    await eventually(() => expect(lines('an activation has reached every proxy')).to.have.length(2));
    await eventually(() =>
      expect(lines('the log level is changed')[0]).to.include({ to: 'debug', of: 'proxy', key: 'ops' }),
    );
    const [changed = ''] = node.output.filter((line) => line.includes('the log level is changed'));
    expect(changed.match(/"level":/g), changed).to.have.length(1);
    await api.put('/log-level', { level: 'error' });
    const before = node.output.length;
    await api.activateAs('v3');
    expect(node.output.length).to.equal(before);
  });

  it('is how each of its threads is', async () => {
    const answer = await fetch(`${node.url}/metrics`, { headers: { authorization: 'Bearer v' } });
    const text = await answer.text();
    familiesOf(text);
    for (const thread of ['main', 'raft', 'worker 1', 'worker 2']) {
      expect(sampleOf(text, `sluice_thread_heap_used_bytes{thread="${thread}"}`), thread).to.be.above(1e6);
      expect(sampleOf(text, `sluice_thread_gc_runs_total{thread="${thread}",generation="young"}`)).to.be.at.least(0);
      expect(sampleOf(text, `sluice_thread_loop_lag_seconds_count{thread="${thread}"}`), thread).to.be.above(0);
    }
    // Each answer makes garbage.
    await eventually(async () => {
      const later = await (await fetch(`${node.url}/metrics`, { headers: { authorization: 'Bearer v' } })).text();
      expect(sampleOf(later, 'sluice_thread_gc_runs_total{thread="main",generation="young"}')).to.be.above(0);
    });
    expect(sampleOf(text, 'sluice_feed_index')).to.be.above(0);
  });

  it('is for admins to change, and wrong words are named', async () => {
    const viewer = apiClient(node.url, { authorization: 'Bearer v' });
    expect((await viewer.get('/log-level')).status).to.equal(200);
    expect((await viewer.put('/log-level', { level: 'debug' })).status).to.equal(403);
    const wrong = await api.put('/log-level', { level: 'loud' });
    expect(wrong).to.deep.include({ status: 400, body: { error: '/level must be one of debug, info, warn, error' } });
    const module = await api.put('/log-level', { level: 'info', module: 'x' });
    expect(module.status).to.equal(400);
    expect(module.body.error).to.match(/^\/module must be one of main, api, proxy, raft, fleet$/);
  });
});
