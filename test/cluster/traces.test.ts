// One write that was sent to a follower, as the spans of both nodes tell it (observability.md §3).
import { expect } from 'chai';
import { call } from '../support/http-call.ts';
import { NodeCluster } from '../support/node-cluster.ts';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts';
import { launchProxy } from '../support/proxy-process.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

/** Captures the configuration as it is. */
async function captured(url: string): Promise<{ readonly id?: string }> {
  const { status, text, json } = await call(url, 'POST', '/api/v1/snapshots', { body: { name: 'next' } });
  expect(status, text).to.equal(201);
  return json as { id?: string };
}

describe('traces across nodes', () => {
  let receiver: OtlpReceiver;
  let cluster: NodeCluster;

  before(async () => {
    receiver = await new OtlpReceiver().start();
    const more = `telemetry: { traces: { endpoint: "${receiver.url}", sampleRatio: 0 } }`;
    cluster = await NodeCluster.start({ more });
  });
  after(async () => {
    await cluster?.stop();
    await receiver.stop();
  });

  let written = 0;
  const write = async (flags: string): Promise<{ follower: string; leader: string }> => {
    const [follower] = await cluster.followers();
    const leader = await cluster.leader();
    const { status, text } = await call(follower?.url ?? '', 'POST', '/api/v1/destinations', {
      body: { name: `d${++written}`, host: 'SECRETHOST', port: 80 },
      headers: { traceparent: `00-${traceId}-${parentId}-${flags}` },
    });
    expect(status, text).to.equal(201);
    return { follower: follower?.nodeId ?? '', leader: leader.nodeId };
  };

  it('a write on a follower: relay, propose, commit, apply', async () => {
    const { follower, leader } = await write('01');
    const spans = await receiver.until((all) => expect(all.length).to.be.at.least(8));
    const place = (span: ReceivedSpan | undefined): string =>
      span === undefined
        ? 'away'
        : `${span.name} on ${span.resource['service.instance.id'] === leader ? 'the leader' : span.resource['service.instance.id'] === follower ? 'the follower' : 'another'}`;
    const lines = spans.map(
      (span) => `${span.kind} ${place(span)} < ${place(spans.find(({ spanId }) => spanId === span.parentId))}`,
    );
    expect(lines.sort()).to.deep.equal([
      'client relay on the follower < propose on the follower',
      'internal apply on the follower < propose on the follower',
      'internal apply on the leader < propose on the leader',
      'internal commit on the leader < propose on the leader',
      'internal propose on the follower < POST /api/v1/destinations on the follower',
      'internal propose on the leader < POST /sync/raft on the leader',
      'server POST /api/v1/destinations on the follower < away',
      'server POST /sync/raft on the leader < relay on the follower',
    ]);
    expect(new Set(spans.map((span) => span.traceId))).to.deep.equal(new Set([traceId]));
    expect(spans.every(({ failed }) => !failed)).to.equal(true);
    const entry = spans.find(({ name }) => name === 'POST /api/v1/destinations');
    expect(entry).to.deep.include({ parentId });
    expect(entry?.attributes).to.include({
      'http.request.method': 'POST',
      'http.route': '/api/v1/destinations',
      'url.path': '/api/v1/destinations',
      'http.response.status_code': 201,
    });
    expect(spans.find(({ name }) => name === 'relay')?.attributes).to.include({ 'sluice.leader': leader });
    const indexes = spans.filter(({ name }) => name === 'apply').map(({ attributes }) => attributes['sluice.index']);
    expect(indexes[0]).to.be.a('number').and.to.equal(indexes[1]);
    expect(receiver.posts.some(({ text }) => text.includes('SECRETHOST'))).to.equal(false);
  });

  it('an activation: down to each worker of every node, and of a proxy that follows one', async () => {
    const leader = await cluster.leader();
    const [follower = leader, other = leader] = await cluster.followers();
    const proxy = launchProxy({
      controlPlanes: [other.url],
      proxy: '  bindAddress: 127.0.0.31',
      more: `telemetry: { traces: { endpoint: "${receiver.url}", sampleRatio: 0 } }`,
    });
    try {
      await follower.api.activateAs('before');
      await proxy.ready();
      await follower.api.create('routes', { name: 'news', directResponse: { status: 200 } });
      const { id = '' } = await captured(follower.url);
      receiver.spans.length = 0;
      const { status, text } = await call(follower.url, 'POST', `/api/v1/snapshots/${id}/activate`, {
        headers: { traceparent: `00-${traceId}-${parentId}-01` },
      });
      expect(status, text).to.equal(200);
      const places = new Map([
        [leader.nodeId, 'the leader'],
        [follower.nodeId, 'the follower'],
        [other.nodeId, 'the third'],
      ]);
      const place = (span: ReceivedSpan | undefined): string =>
        span === undefined
          ? 'away'
          : `${span.name} on ${places.get(String(span.resource['service.instance.id'])) ?? 'the proxy'}`;
      const spans = await receiver.until((all) => expect(all.length).to.be.at.least(17));
      const lines = spans.map((span) => `${place(span)} < ${place(spans.find((one) => one.spanId === span.parentId))}`);
      expect(lines.sort()).to.deep.equal([
        'POST /api/v1/snapshots/:id/activate on the follower < away',
        'POST /sync/raft on the leader < relay on the follower',
        'apply on the follower < propose on the follower',
        'apply on the leader < propose on the leader',
        'apply on the third < propose on the follower',
        'commit on the leader < propose on the leader',
        'install on the follower < propose on the follower',
        'install on the leader < propose on the leader',
        'install on the proxy < propose on the follower',
        'install on the third < propose on the follower',
        'propose on the follower < POST /api/v1/snapshots/:id/activate on the follower',
        'propose on the leader < POST /sync/raft on the leader',
        'relay on the follower < propose on the follower',
        'worker install on the follower < install on the follower',
        'worker install on the leader < install on the leader',
        'worker install on the proxy < install on the proxy',
        'worker install on the third < install on the third',
      ]);
      expect(new Set(spans.map((span) => span.traceId))).to.deep.equal(new Set([traceId]));
      const installed = spans.filter(({ name }) => name.endsWith('install'));
      expect(new Set(installed.map(({ attributes }) => attributes['sluice.snapshot.id']))).to.deep.equal(new Set([id]));
    } finally {
      await proxy.stop('SIGKILL');
    }
  });

  it('one whose trace is not recorded leaves no span on any node', async () => {
    receiver.spans.length = 0;
    await write('00');
    await write('01');
    const spans = await receiver.until((all) => expect(all.length).to.be.at.least(8));
    expect(spans.length).to.equal(8);
  });
});
