import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { FinishedSpan } from '../../../../src/telemetry/traces/finished-span.ts';
import { openTracing } from '../../../../src/telemetry/traces/open-tracing.ts';
import { WorkTraces } from '../../../../src/telemetry/traces/work-traces.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const parent = { traceId: 'a'.repeat(32), parentId: 'b'.repeat(16), sampled: true };

describe('spans of what the main thread does', () => {
  const spans: FinishedSpan[] = [];
  const clock = new ManualClock();
  let work: WorkTraces;
  before(async () => {
    work = new WorkTraces(await openTracing(0, (span) => spans.push(span)), clock);
  });
  beforeEach(() => spans.splice(0));

  it('belong to the request on whose behalf it is done, across promises and timers', async () => {
    const requests = ['one', 'two'].map((name) => work.enter('server', name, parent));
    await Promise.all(
      requests.map((request) =>
        work.run(request, async () => {
          await turn();
          await new Promise((resolve) => setTimeout(resolve, 1));
          work.begin('internal', 'later').end();
        }),
      ),
    );
    for (const request of requests) request.end();
    const ids = requests.map(({ context }) => context?.spanId);
    expect(spans.filter(({ name }) => name === 'later').map(({ parentId }) => parentId)).to.have.members(ids);
    expect(work.current).to.equal(undefined);
  });

  it('are none where the request is not recorded, and the traceparent of calls has no sampled flag', () => {
    const request = work.enter('server', 'one', { ...parent, sampled: false });
    const inner = work.run(request, () => work.begin('client', 'relay'));
    inner.end();
    request.end();
    expect(spans).to.deep.equal([]);
    expect(inner.traceparent).to.equal(`00-${parent.traceId}-${parent.parentId}-00`);
  });

  it('end once, and may be told of afterwards', () => {
    const request = work.enter('server', 'one', parent);
    request.end('500');
    request.end();
    request.setAttributes({ late: true });
    request.rename('late');
    expect(spans.map(({ name, attributes }) => [name, attributes])).to.deep.equal([['one', { 'error.type': '500' }]]);
    work.record(request, 'apply', {}, clock.monotonicMs() - 20, clock.monotonicMs() - 10);
    expect(spans[1]).to.deep.include({ name: 'apply', parentId: request.context?.spanId });
    const [start, end] = [spans[1]?.startTime, spans[1]?.endTime].map(
      (time = [0, 0]) => time[0] * 1_000 + time[1] / 1e6,
    );
    expect((end ?? 0) - (start ?? 0)).to.be.closeTo(10, 0.001);
  });

  it('what another process does is a parent when it is recorded there, and its decision is followed', () => {
    const recorded = work.elsewhere('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
    work.begin('internal', 'here', {}, recorded).end();
    expect(spans.map(({ name, parentId }) => [name, parentId])).to.deep.equal([['here', '00f067aa0ba902b7']]);
    const passedOver = work.elsewhere('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00');
    work.begin('internal', 'not here', {}, passedOver).end();
    expect(spans).to.have.lengthOf(1);
    expect(work.elsewhere('nonsense')).to.equal(undefined);
  });

  it('the origin of a configuration is known for a while', () => {
    const request = work.enter('server', 'one', parent);
    for (let index = 1; index <= 40; index++) work.setOrigin(index, request);
    expect(work.originOf(40)).to.equal(request);
    expect(work.originOf(1)).to.equal(undefined);
  });
});
