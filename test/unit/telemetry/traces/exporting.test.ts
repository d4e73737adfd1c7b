// Export of traces: spans arrive at a collector with their parents and attributes.
import { expect } from 'chai';
import { silentLogger } from '../../../../src/telemetry/logger.ts';
import { openTraces } from '../../../../src/telemetry/traces/exporting.ts';
import type { Traces } from '../../../../src/telemetry/traces/traces.ts';
import { traceParentOf } from '../../../../src/telemetry/traces/tracing.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { OtlpReceiver } from '../../../support/otlp-receiver.ts';

describe('spans at a collector', () => {
  const receiver = new OtlpReceiver();
  let traces: Traces;
  before(async () => {
    await receiver.start();
    traces = await openTraces({
      endpoint: `${receiver.url}/v1/traces`,
      headers: { authorization: 'Bearer t' },
      sampleRatio: 0.5,
      serviceName: 'edge',
      serviceVersion: '1.2.3',
      instanceId: 'a',
      clock: systemClock,
      logger: silentLogger,
    });
  });
  after(() => receiver.stop());

  it('have their ids, times, attributes, events and status, and say whose they are', async () => {
    const { tracing } = traces;
    const parent = { traceId: 'a'.repeat(32), parentId: 'b'.repeat(16), sampled: true };
    const start = tracing.begin(parent);
    expect(start.sampled).to.equal(true);
    const outer = tracing.enter(start, 'server', 'GET r', 1_000_000_000_000.5);
    const inner = tracing.child(outer.spanContext(), 'client', 'GET');
    inner.addEvent('look', { n: 1 });
    tracing.fail(inner, 'timeout', { long: 'x'.repeat(5_000) });
    inner.end();
    outer.setAttribute('http.response.status_code', 504);
    outer.end(1_000_000_000_001.25);
    await traces.close();
    const [second, first] = receiver.spans;
    expect(first).to.deep.include({
      traceId: parent.traceId,
      parentId: parent.parentId,
      name: 'GET r',
      kind: 'server',
      failed: false,
      attributes: { 'http.response.status_code': 504 },
      start: 1_000_000_000_000_500_000n,
      end: 1_000_000_000_001_250_000n,
    });
    expect(first?.resource).to.deep.include({
      'service.name': 'edge',
      'service.version': '1.2.3',
      'service.instance.id': 'a',
    });
    expect(second).to.deep.include({ traceId: parent.traceId, parentId: first?.spanId, kind: 'client', failed: true });
    expect(second?.attributes).to.deep.equal({ 'error.type': 'timeout', long: 'x'.repeat(512) });
    expect(second?.events).to.deep.equal([{ name: 'look', attributes: { n: 1 } }]);
    expect(traceParentOf(outer)).to.equal(`00-${parent.traceId}-${first?.spanId}-01`);
    const [post] = receiver.posts;
    expect(post?.path).to.equal('/v1/traces');
    expect(post?.headers).to.include({ authorization: 'Bearer t', 'content-type': 'application/x-protobuf' });
  });

  it('a trace that begins here has the id by which it was decided on', () => {
    const { tracing } = traces;
    const decisions = Array.from({ length: 64 }, () => tracing.begin(undefined));
    for (const start of decisions.filter(({ sampled }) => sampled)) {
      expect(tracing.enter(start, 'server', 'x').spanContext()).to.deep.include({ traceId: start.traceId });
    }
    const other = decisions.find(({ sampled }) => !sampled);
    expect(other && tracing.unrecorded(other)).to.match(new RegExp(`^00-${other?.traceId}-[0-9a-f]{16}-00$`));
  });

  it('a parent that is not sampled stays so at any sampling share', () => {
    const { tracing } = traces;
    const parent = { traceId: 'f'.repeat(32), parentId: 'b'.repeat(16), sampled: false };
    const start = tracing.begin(parent);
    expect(start.sampled).to.equal(false);
    expect(tracing.unrecorded(start)).to.equal(`00-${parent.traceId}-${parent.parentId}-00`);
  });
});
